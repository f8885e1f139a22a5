// The curves of training runs as one picture: the loss of training and validation, and a chart for
// each other number that validation gave, the runs in colors of their own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "heed/plot/svg.h"

namespace heed::plot {

/// Values over updates.
struct RunCurve {
  std::string metric;
  std::vector<Point> points;
};

struct TrainingRun {
  std::string name;
  std::vector<Point> training;  ///< The loss; of many points the means of neighbours are drawn.
  std::vector<RunCurve> validation;  ///< "loss" stands beside training's, "perplexity" nowhere.
};

/// What a run has written into its folder (training/curves.h), named after it.
TrainingRun read_run(const std::filesystem::path& folder);

/// Draws them; the axis of updates may be logarithmic.
std::string curves_svg(const std::vector<TrainingRun>& runs, bool log_updates = false);

}  // namespace heed::plot
