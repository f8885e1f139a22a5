#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/packed/likeliest.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include <algorithm>
#include <memory>
#include <span>
#include <type_traits>

#include "heed/base/arena.h"
#include "heed/base/flops.h"
#include "heed/base/threads.h"
#include "heed/kernels/likeliest-inl.h"
#include "heed/kernels/packed/likeliest.h"
#include "heed/kernels/packed/remainder.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

// Outputs computed at once: their scores stay in the second-level cache.
constexpr std::int64_t kOutputs = 512;
constexpr std::int64_t kPanels = kOutputs / kPanelRows;
// The vocabulary is divided among threads into so many stripes at most.
constexpr std::int64_t kStripes = 8;

// What is known of one row within a stripe.
struct RowState {
  Best best;
  GrowingExpSum sum;
};

// The stripes of all rows: [stripes, rows] states, each with room for k entries.
class Stripes {
 public:
  explicit Stripes(const PackedLikeliest& call)
      : call_(call),
        product_(call.scores),
        entries_per_row_(call.k + (call.k > 0 && call.remainders ? kRefinedOutputs : 0)),
        chunks_((call.scores.weight.out + kOutputs - 1) / kOutputs),
        stripes_(std::min(chunks_, kStripes)),
        entries_(stripes_ * call.scores.rows * entries_per_row_),
        states_(stripes_ * call.scores.rows) {
    static_assert(std::is_trivially_destructible_v<RowState>);  // states_ destroys nothing
    for (std::int64_t i = 0; i < states_.size(); ++i) {
      const std::int64_t row = i % call.scores.rows;
      const Best best(entries_.data() + i * entries_per_row_, entries_per_row_,
                      call.banned + call.banned_starts[row],
                      call.banned + call.banned_starts[row + 1]);
      std::construct_at(states_.data() + i, RowState{best, {}});
    }
  }

  void run() {
    const std::int64_t rows = std::min(call_.scores.rows, kPartRows);
    const std::int64_t down = (call_.scores.rows + rows - 1) / rows;
    const std::int64_t cost = rows * call_.scores.weight.out / stripes_ * call_.scores.weight.in;
    parallel_for(stripes_ * down, cost, [&](std::int64_t i) HWY_ATTR {
      const std::int64_t first = i / stripes_ * rows;
      read_stripe(i % stripes_, first, std::min(first + rows, call_.scores.rows));
    });
    parallel_for(call_.scores.rows, entries_per_row_ * call_.scores.weight.in,
                 [&](std::int64_t row) HWY_ATTR { merge(row); });
  }

 private:
  RowState& state(std::int64_t stripe, std::int64_t row) {
    return states_[stripe * call_.scores.rows + row];
  }

  void read_stripe(std::int64_t stripe, std::int64_t row_begin, std::int64_t row_end) {
    const PackedMatrix& weight = call_.scores.weight;
    const Scratch<float> scores((row_end - row_begin) * kOutputs);
    for (std::int64_t chunk = chunks_ * stripe / stripes_;
         chunk < chunks_ * (stripe + 1) / stripes_; ++chunk) {
      const std::int64_t panel = chunk * kPanels, token = chunk * kOutputs;
      const std::int64_t count = std::min(kOutputs, weight.out - token);
      product_.run({row_begin, row_end, panel, std::min(panel + kPanels, weight.panels())},
                   scores.data(), kOutputs);
      for (std::int64_t row = row_begin; row < row_end; ++row) {
        float* const x = scores.data() + (row - row_begin) * kOutputs;
        if (call_.renormalised) hide_banned(row, token, count, x);
        RowState& now = state(stripe, row);
        const float top = now.sum.add(count, x);
        if (call_.k > 0 && top > now.best.bar()) {
          offer_block(count, x, static_cast<std::int32_t>(token), now.best);
        }
      }
    }
  }

  // Banned tokens get a probability of 0.
  void hide_banned(std::int64_t row, std::int64_t first, std::int64_t count, float* x) const {
    const std::int32_t* const end = call_.banned + call_.banned_starts[row + 1];
    const std::int32_t* token =
        std::lower_bound(call_.banned + call_.banned_starts[row], end, first);
    for (; token != end && *token < first + count; ++token) {
      x[*token - first] = -std::numeric_limits<float>::infinity();
    }
  }

  void merge(std::int64_t row) {
    GrowingExpSum sum;
    const Scratch<Entry> room(stripes_ * entries_per_row_);
    std::size_t count = 0;
    for (std::int64_t stripe = 0; stripe < stripes_; ++stripe) {
      sum.add(state(stripe, row).sum);
      const std::span<const Entry> found = state(stripe, row).best.sorted();
      std::ranges::copy(found, room.data() + count);
      count += found.size();
    }
    std::span<Entry> all = best_of({room.data(), count}, entries_per_row_);
    call_.normalisers[row] = normaliser_of(
        entries_per_row_ > call_.k && !all.empty() ? refine(row, sum.sum(), all) : sum.sum());
    all = best_of(all, call_.k);
    const std::size_t k = static_cast<std::size_t>(call_.k), kept = all.size();
    for (std::size_t i = 0; i < k; ++i) {
      const std::size_t place = static_cast<std::size_t>(row) * k + i;
      call_.tokens[place] = i < kept ? all[i].token : kNoToken;
      call_.logits[place] = i < kept ? all[i].logit : -std::numeric_limits<float>::infinity();
    }
  }

  // The best entries, in order, at the front of all.
  static std::span<Entry> best_of(std::span<Entry> all, std::int64_t most) {
    const std::size_t kept = std::min(all.size(), static_cast<std::size_t>(most));
    std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept), all.end(),
                      Before());
    return all.first(kept);
  }

  // Scores the entries again, and replaces their former scores in the sum of exponentials.
  ExpSum refine(std::int64_t row, const ExpSum& sum, std::span<Entry> entries) const {
    const PackedProduct& scores = call_.scores;
    double rest = sum.total;  // of the outputs that are not scored again
    float top = -std::numeric_limits<float>::infinity();
    for (Entry& entry : entries) {
      rest -= std::exp(static_cast<double>(entry.logit) - sum.shift);
      entry.logit = refined_product(scores.x + row * scores.x_stride, scores.weight,
                                    call_.remainders, entry.token);
      if (scores.bias != nullptr) entry.logit += scores.bias[entry.token];
      top = std::max(top, entry.logit);
    }
    if (rest < 0.0) rest = 0.0;  // the total was rounded
    double total = rest * std::exp(static_cast<double>(sum.shift) - top);
    for (const Entry& entry : entries) total += std::exp(static_cast<double>(entry.logit) - top);
    return {top, static_cast<float>(total)};
  }

  const PackedLikeliest& call_;
  PartialProduct product_;
  std::int64_t entries_per_row_;
  std::int64_t chunks_, stripes_;
  Scratch<Entry> entries_;
  Scratch<RowState> states_;
};

void find_likeliest(const PackedLikeliest& call) { Stripes(call).run(); }

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(find_likeliest);

void packed_likeliest(const PackedLikeliest& call) {
  const PackedProduct& scores = call.scores;
  if (scores.rows == 0 || scores.weight.out == 0) return;
  add_flops(2 * scores.rows * scores.weight.out * scores.weight.in);
  HEED_DISPATCH(find_likeliest)(call);
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
