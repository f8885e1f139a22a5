// Sequence layers of equal width side by side: convolution, recurrence, self-attention, restricted
// self-attention. What each costs by formula (Vaswani et al. 2017, table 1) and as measured here:
// time, memory and floating-point operations against the number of positions n and of features d,
// with fitted exponents; path lengths counted on the tape; and the n from which self-attention is
// dearer than the recurrence.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/base/threads.h"
#include "heed/study/growth.h"
#include "heed/study/path_length.h"

namespace heed {

struct ComparisonConfig {
  std::vector<std::int64_t> lengths = {128, 256, 512, 1024, 2048, 4096};  // n, rising
  std::vector<std::int64_t> sizes = {32, 64, 128, 256, 512};              // d, rising
  std::vector<std::int64_t> path_lengths = {8, 16, 32, 64, 128, 256};     // n, for counting paths
  std::int64_t batch = 1;
  std::int64_t kernel = 3;         // of the convolution
  std::int64_t neighbours = 16;    // r, that restricted self-attention sees on each side
  std::string recurrence = "gru";  // or lstm
  bool backward = false;           // forward and backward pass, rather than forward alone
  std::int64_t runs = 3;           // of which the best counts

  /// Smaller sizes: seconds instead of a minute, for a first look.
  static ComparisonConfig quick() {
    return {.lengths = {64, 128, 256, 512},
            .sizes = {16, 32, 64},
            .path_lengths = {8, 16, 32, 64},
            .runs = 2};
  }
  void validate() const;
};

/// One layer at one size; the cost is that of one call.
struct Measurement {
  std::int64_t length = 0, size = 0;
  double seconds = 0.0;
  std::int64_t bytes = 0;  ///< Most at once beyond what was there before the call.
  std::int64_t flops = 0;
};

/// What the paper says, for n positions, d features, a kernel of k, a neighbourhood of r.
struct Formulas {
  std::string complexity, sequential, path;
};

/// A cost ~ n^in_length for the fewest features, ~ d^in_size for the most positions.
struct Growth {
  double in_length = 0.0, in_size = 0.0;
};

struct CountedPath {
  std::int64_t length = 0;
  PathLength counted;
};

struct ComparedLayer {
  std::string name;  ///< As in make_sequence_layer.
  std::string title;
  Formulas formulas;
  std::vector<Measurement> points;  ///< Every length for the first size, then for the next.
  Growth time, memory, flops;
  std::vector<CountedPath> paths;
};

/// Where self-attention becomes dearer than the recurrence; by the formulas, at n = d.
struct CrossoverAtSize {
  std::int64_t size = 0;
  Crossover by_time, by_flops;
};

struct Comparison {
  ComparisonConfig config;
  ComparedLayer convolution, dilated, recurrence, attention, restricted;
  std::vector<CrossoverAtSize> crossovers;

  /// All five; a dilated convolution costs what one without does, and only its paths are counted.
  std::vector<const ComparedLayer*> layers() const;
};

/// Told after every piece of work: how many are done, of how many, and what comes next.
using ComparisonProgress =
    FunctionRef<void(std::int64_t done, std::int64_t total, const std::string& next)>;

/// Measures everything, on as many threads as heed is set to.
Comparison compare_layers(const ComparisonConfig& config, ComparisonProgress progress);

}  // namespace heed
