#include "heed/data/shuffling.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "heed/base/interrupt.h"

namespace heed {
namespace {

// Sums over the windows of an epoch.
class Sums {
 public:
  explicit Sums(const PackedPairs& corpus)
      : pairs_(static_cast<double>(std::max<std::int64_t>(1, corpus.info().pairs))) {
    for (std::int64_t block = 0; block < corpus.blocks(); ++block) {
      starts_.push_back(starts_.back() + corpus.pairs_of(block));
    }
  }

  void add(const PackedWindow& window, const BatchPlan& plan) {
    std::vector<std::int64_t> places(window.lengths.size());
    for (std::int64_t batch = 0; batch < plan.size(); ++batch)
      add_batch(window, plan.rows(batch), places);
    for (std::size_t b = 0; b < window.blocks.size(); ++b) {
      for (std::int64_t row = window.starts[b] + 1; row < window.starts[b + 1]; ++row) {
        const auto at = static_cast<std::size_t>(row);
        neighbours_ += std::abs(static_cast<double>(places[at] - places[at - 1]));
        ++neighbour_count_;
      }
    }
    padding_ += padding_share(plan, window.lengths) * static_cast<double>(window.lengths.size());
  }

  Shuffling result() const {
    const double mean = (pairs_ - 1.0) / 2.0, variance = (pairs_ * pairs_ - 1.0) / 12.0;
    return {.moved = moved_ / pairs_ / pairs_,
            .correlation = variance > 0 ? (products_ / pairs_ - mean * mean) / variance : 0.0,
            .neighbours = neighbours_ /
                          static_cast<double>(std::max<std::int64_t>(1, neighbour_count_)) / pairs_,
            .same_block = rows_together_ > 0 ? same_block_ / rows_together_ : 0.0,
            .padding = padding_ / pairs_};
  }

 private:
  // The rows of a batch are in the order of the window, so those of a block are together.
  void add_batch(const PackedWindow& window, std::span<const std::int32_t> rows,
                 std::vector<std::int64_t>& places) {
    double in_block = 0.0;
    std::size_t block = 0;
    for (const std::int32_t row : rows) {
      const auto after = std::ranges::upper_bound(window.starts, row);
      const auto b = static_cast<std::size_t>(after - window.starts.begin()) - 1;
      if (b != block) in_block = 0.0;
      block = b;
      same_block_ += 2.0 * in_block++;
      const std::int64_t number =
          starts_[static_cast<std::size_t>(window.blocks[b])] + row - window.starts[b];
      moved_ += std::abs(static_cast<double>(number - place_));
      products_ += static_cast<double>(number) * static_cast<double>(place_);
      places[static_cast<std::size_t>(row)] = place_++;
    }
    const auto size = static_cast<double>(rows.size());
    rows_together_ += size * (size - 1.0);
  }

  double pairs_;
  std::vector<std::int64_t> starts_ = {0};  // the number of the first pair of each block
  std::int64_t place_ = 0;
  double moved_ = 0.0, products_ = 0.0, neighbours_ = 0.0, padding_ = 0.0;
  double same_block_ = 0.0, rows_together_ = 0.0;
  std::int64_t neighbour_count_ = 0;
};

}  // namespace

Shuffling measure_shuffling(const PackedPairs& corpus, const PackedStreamOptions& options,
                            std::int64_t epoch) {
  Sums sums(corpus);
  const std::int64_t windows = packed_windows(corpus, options.window);
  for (std::int64_t window = 0; window < windows; ++window) {
    check_interrupt();
    const PackedWindow pairs = open_window(corpus, options, epoch, window);
    sums.add(pairs, plan_window(pairs, options.batching, epoch, window));
    corpus.forget();
  }
  return sums.result();
}

}  // namespace heed
