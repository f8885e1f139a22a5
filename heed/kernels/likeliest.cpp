#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/likeliest.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include <algorithm>
#include <cmath>

#include "heed/base/arena.h"
#include "heed/kernels/exp_sum-inl.h"
#include "heed/kernels/likeliest.h"
#include "heed/kernels/reference/likeliest.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

struct Entry {
  float logit;
  std::int32_t token;
};

struct Before {
  bool operator()(const Entry& a, const Entry& b) const {
    return a.logit > b.logit || (a.logit == b.logit && a.token < b.token);
  }
};

// The best k entries so far, as a heap with the worst of them on top. Tokens come in rising order,
// so an entry that only equals the worst one is not better.
class Best {
 public:
  Best(Entry* entries, std::int64_t k, const std::int32_t* banned, const std::int32_t* banned_end)
      : entries_(entries), k_(k), banned_(banned), banned_end_(banned_end) {}

  std::int64_t size() const { return size_; }
  /// A logit must exceed this to be kept.
  float bar() const { return bar_; }
  void offer(Entry entry) {
    if (!(entry.logit > bar_) || std::binary_search(banned_, banned_end_, entry.token)) return;
    if (size_ == k_) {
      std::pop_heap(entries_, entries_ + size_, Before());
      --size_;
    }
    entries_[size_++] = entry;
    std::push_heap(entries_, entries_ + size_, Before());
    if (size_ == k_) bar_ = entries_[0].logit;
  }
  void write(std::int32_t* tokens) {
    std::sort_heap(entries_, entries_ + size_, Before());
    for (std::int64_t i = 0; i < k_; ++i) tokens[i] = i < size_ ? entries_[i].token : kNoToken;
  }

 private:
  Entry* entries_;
  std::int64_t k_;
  std::int64_t size_ = 0;
  float bar_ = -std::numeric_limits<float>::infinity();
  const std::int32_t* banned_;
  const std::int32_t* banned_end_;
};

// Offers those of n logits that exceed the bar; the first logit belongs to `token`.
void offer_block(std::int64_t n, const float* x, std::int32_t token, Best& best) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < n; i += lanes) {
    const std::int64_t end = std::min(n, i + lanes);
    const bool whole = end == i + lanes;
    if (whole && hn::AllFalse(d, hn::Gt(hn::LoadU(d, x + i), hn::Set(d, best.bar())))) continue;
    for (std::int64_t j = i; j < end; ++j) {
      best.offer({x[j], token + static_cast<std::int32_t>(j)});
    }
  }
}

// `entries` has room for k.
void likeliest_row(const LikeliestCall<float>& c, std::int64_t row, void* entries) {
  const float* const x = c.logits + row * c.rows.width;
  Best best(static_cast<Entry*>(entries), c.k, c.banned + c.banned_starts[row],
            c.banned + c.banned_starts[row + 1]);
  const ExpSum sum =
      exp_sum(c.rows.width, x, [&](std::int64_t at, std::int64_t m, float top) HWY_ATTR {
        if (c.k > 0 && top > best.bar()) {
          offer_block(m, x + at, static_cast<std::int32_t>(at), best);
        }
      });
  c.normalisers[row] = {sum.shift, sum.total == 0.0f ? 0.0f : std::log(sum.total)};
  best.write(c.tokens + row * c.k);
}

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {

HWY_EXPORT(likeliest_row);

constexpr std::int64_t kCost = 8;  // operations per element, roughly

}  // namespace

void likeliest(const LikeliestCall<float>& call) {
  const auto row = HEED_DISPATCH(likeliest_row);
  for_each_rows(call.rows, 1, kCost, [&](std::int64_t r, std::int64_t /*count*/) {
    const Scratch<double> entries(std::max<std::int64_t>(1, call.k));  // 8 bytes each, as an Entry
    row(call, r, entries.data());
  });
}
void likeliest(const LikeliestCall<double>& call) {
  for_each_rows(call.rows, 1, kCost,
                [&](std::int64_t r, std::int64_t /*count*/) { reference::likeliest_row(call, r); });
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
