// The best entries of a row of scores, found without sorting the row.
#if defined(HEED_KERNELS_LIKELIEST_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_LIKELIEST_INL_H_
#undef HEED_KERNELS_LIKELIEST_INL_H_
#else
#define HEED_KERNELS_LIKELIEST_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "heed/kernels/exp_sum-inl.h"
#include "heed/kernels/likeliest.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

/// A token that may be chosen.
struct Entry {
  float logit;
  std::int32_t token;
};

struct Before {
  bool operator()(const Entry& a, const Entry& b) const {
    return a.logit > b.logit || (a.logit == b.logit && a.token < b.token);
  }
};

/// The best k entries so far, as a heap with the worst of them on top. Tokens come in rising order,
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
  /// The entries, best first; none may be offered afterwards.
  std::span<const Entry> sorted() {
    std::sort_heap(entries_, entries_ + size_, Before());
    return {entries_, static_cast<std::size_t>(size_)};
  }

 private:
  Entry* entries_;
  std::int64_t k_;
  std::int64_t size_ = 0;
  float bar_ = -std::numeric_limits<float>::infinity();
  const std::int32_t* banned_;
  const std::int32_t* banned_end_;
};

/// Offers those of n logits that exceed the bar; the first logit belongs to `token`.
HWY_INLINE void offer_block(std::int64_t n, const float* x, std::int32_t token, Best& best) {
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

/// The normaliser of a row with that sum of exponentials.
HWY_INLINE LogNormaliser<float> normaliser_of(const ExpSum& sum) {
  return {sum.shift, sum.total == 0.0f ? 0.0f : std::log(sum.total)};
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
