// The weight pattern of a mechanism: the weights of a small layer for an input in which
// neighbouring positions and a few distant ones are similar.
#pragma once

#include <string>
#include <vector>

#include "heed/attention/mechanism.h"
#include "heed/plot/heatmap.h"

namespace heed::plot {

/// The size and options of the layer.
struct PatternOptions {
  std::int64_t positions = 32;  ///< From 1 to 4096.
  bool causal = false;
  std::vector<std::string> options = {};  ///< Of the layer; override those of its sample.
};

/// One matrix per head of a layer with its initial parameters.
std::vector<Heatmap> pattern_of(const Mechanism& mechanism, const PatternOptions& options = {});

}  // namespace heed::plot
