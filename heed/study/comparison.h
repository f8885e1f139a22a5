// Compares sequence layers of equal width: convolution, recurrence, self-attention, restricted
// self-attention. It reports the cost by formula (Vaswani et al. 2017, table 1) and as measured:
// time, memory and floating-point operations for n positions and d features, with fitted exponents;
// path lengths counted on the tape; and the n from which self-attention costs more than the
// recurrence.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/base/threads.h"
#include "heed/study/growth.h"
#include "heed/study/path_length.h"

namespace heed {

struct ComparisonConfig {
  std::vector<std::int64_t> lengths = {128, 256, 512, 1024, 2048, 4096};  // n, ascending
  std::vector<std::int64_t> sizes = {32, 64, 128, 256, 512};              // d, ascending
  std::vector<std::int64_t> path_lengths = {8, 16, 32, 64, 128, 256};     // n, for counting paths
  std::int64_t batch = 1;
  std::int64_t kernel = 3;         // kernel size of the convolution
  std::int64_t neighbours = 16;    // r, positions on each side in restricted self-attention
  std::string recurrence = "gru";  // or lstm
  bool backward = false;           // measure forward and backward pass instead of forward alone
  std::int64_t runs = 3;           // number of runs; the best counts

  /// Smaller sizes: takes seconds instead of a minute.
  static ComparisonConfig quick() {
    return {.lengths = {64, 128, 256, 512},
            .sizes = {16, 32, 64},
            .path_lengths = {8, 16, 32, 64},
            .runs = 2};
  }
  void validate() const;
};

/// One layer at one size; the cost of one call.
struct Measurement {
  std::int64_t length = 0, size = 0;
  double seconds = 0.0;
  std::int64_t bytes = 0;  ///< Peak memory of the call, beyond that allocated before it.
  std::int64_t flops = 0;
};

/// The formulas of the paper, for n positions, d features, a kernel of k, a neighbourhood of r.
struct Formulas {
  std::string complexity, sequential, path;
};

/// Cost ~ n^in_length at the smallest size, ~ d^in_size at the greatest length.
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
  std::vector<Measurement> points;  ///< All lengths for the first size, then for the next.
  Growth time, memory, flops;
  std::vector<CountedPath> paths;
};

/// Where self-attention costs more than the recurrence; by the formulas, from n = d.
struct CrossoverAtSize {
  std::int64_t size = 0;
  Crossover by_time, by_flops;
};

struct Comparison {
  ComparisonConfig config;
  ComparedLayer convolution, dilated, recurrence, attention, restricted;
  std::vector<CrossoverAtSize> crossovers;

  /// All five. A dilated convolution costs the same as a plain one, so only its paths are counted.
  std::vector<const ComparedLayer*> layers() const;
};

/// Called after every piece of work: the number done, the total, and what comes next.
using ComparisonProgress =
    FunctionRef<void(std::int64_t done, std::int64_t total, const std::string& next)>;

/// Measures everything, with heed's current number of threads.
Comparison compare_layers(const ComparisonConfig& config, ComparisonProgress progress);

}  // namespace heed
