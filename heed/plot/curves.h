// The curves of training runs as one picture: the training and validation loss, a chart for each
// other validation metric, and the reward and entropy of attention that samples. Each run has its
// own color.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "heed/plot/svg.h"

namespace heed::plot {

/// The values of a metric over updates.
struct RunCurve {
  std::string metric;
  std::vector<Point> points;
};

/// The curves of one run.
struct TrainingRun {
  std::string name;
  std::vector<Point> training;  ///< The loss; many points are averaged when drawn.
  /// "loss" shares a chart with the training loss; "perplexity" is not drawn.
  std::vector<RunCurve> validation;
  std::vector<RunCurve> samples = {};  ///< What attention sampled in training, if it samples.
};

/// Reads the curves in the folder of a run (training/curves.h), which gives it its name.
TrainingRun read_run(const std::filesystem::path& folder);

/// Draws runs; the axis of updates may be logarithmic.
std::string curves_svg(const std::vector<TrainingRun>& runs, bool log_updates = false);

}  // namespace heed::plot
