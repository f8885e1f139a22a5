// The weight pattern of a mechanism: what a small layer of it attends to, on an input in which near
// positions are alike and a few distant ones are too.
#pragma once

#include <string>
#include <vector>

#include "heed/attention/mechanism.h"
#include "heed/plot/heatmap.h"

namespace heed::plot {

struct PatternOptions {
  std::int64_t positions = 32;
  bool causal = false;
  std::vector<std::string> options = {};  ///< Of the layer, over those of its sample.
};

/// One matrix per head of a layer with its first values.
std::vector<Heatmap> pattern_of(const Mechanism& mechanism, const PatternOptions& options = {});

}  // namespace heed::plot
