// SIMD loops over one contiguous row. The body of a loop is written once, as a lambda over `part`,
// which loads and stores either a whole vector (Whole) or the tail of the row (Tail).
#if defined(HEED_KERNELS_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ROWS_INL_H_
#undef HEED_KERNELS_ROWS_INL_H_
#else
#define HEED_KERNELS_ROWS_INL_H_
#endif

#include <cstdint>

#include "heed/kernels/simd.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
template <typename T>
using TagOf = hn::ScalableTag<T>;
template <typename T>
using VecOf = hn::Vec<TagOf<T>>;
using F32 = TagOf<float>;
using VF = VecOf<float>;

/// Access to a whole vector inside the row.
struct Whole {
  template <typename T>
  HWY_INLINE VecOf<T> load(const T* p) const {
    return hn::LoadU(TagOf<T>(), p);
  }
  template <typename T>
  HWY_INLINE void store(VecOf<T> v, T* p) const {
    hn::StoreU(v, TagOf<T>(), p);
  }
  template <class V>
  HWY_INLINE V keep(V now, V /*before*/) const {
    return now;
  }
};

/// The same for results that bypass the caches; addresses must be aligned to a vector.
struct Streamed : Whole {
  template <typename T>
  HWY_INLINE void store(VecOf<T> v, T* p) const {
    hn::Stream(v, TagOf<T>(), p);
  }
};

/// The last n elements of the row, fewer than a vector; lanes after them load as 0.
struct Tail {
  std::size_t n;
  template <typename T>
  HWY_INLINE VecOf<T> load(const T* p) const {
    return LoadFirst(TagOf<T>(), p, n);
  }
  template <typename T>
  HWY_INLINE void store(VecOf<T> v, T* p) const {
    StoreFirst(v, TagOf<T>(), p, n);
  }
  /// `now` inside the row and `before` after its end, for folds in which a 0 from after the end
  /// would count.
  template <class V>
  HWY_INLINE V keep(V now, V before) const {
    return hn::IfThenElse(hn::FirstN(hn::DFromV<V>(), n), now, before);
  }
};

/// Calls body(part, i) for the vectors of a row of n elements; Vector is Whole or Streamed.
template <typename Vector = Whole, typename T = float, typename Body>
HWY_INLINE void map_row(std::int64_t n, const Body& body) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(TagOf<T>()));
  std::int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    body(Vector{}, i);
    body(Vector{}, i + lanes);
  }
  for (; i + lanes <= n; i += lanes) body(Vector{}, i);
  if (i < n) body(Tail{static_cast<std::size_t>(n - i)}, i);
}

/// total = body(part, i, total) over the vectors of a row, in four interleaved totals that begin
/// with `start` and are joined at the end. This keeps dependency chains and sums short.
template <typename T = float, typename Total, typename Body, typename Join>
HWY_INLINE Total fold_row(std::int64_t n, Total start, const Body& body, const Join& join) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(TagOf<T>()));
  Total a = start, b = start, c = start, d = start;
  std::int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    a = body(Whole{}, i, a);
    b = body(Whole{}, i + lanes, b);
    c = body(Whole{}, i + 2 * lanes, c);
    d = body(Whole{}, i + 3 * lanes, d);
  }
  for (; i + lanes <= n; i += lanes) a = body(Whole{}, i, a);
  if (i < n) b = body(Tail{static_cast<std::size_t>(n - i)}, i, b);
  return join(join(a, b), join(c, d));
}

/// The fold whose totals are sums of elements.
template <typename T = float, typename Body>
HWY_INLINE T sum_row(std::int64_t n, const Body& body) {
  const TagOf<T> d;
  using V = VecOf<T>;
  const V total =
      fold_row<T>(n, hn::Zero(d), body, [](V a, V b) HWY_ATTR { return hn::Add(a, b); });
  return hn::GetLane(hn::SumOfLanes(d, total));
}

/// The largest of `start` and the elements of a non-empty row. A NaN may or may not be propagated.
HWY_INLINE float max_row(const float* x, std::int64_t n, float start) {
  const VF best = fold_row(
      n, hn::Set(F32(), start),
      [x](auto part, std::int64_t i, VF top)
          HWY_ATTR { return part.keep(hn::Max(top, part.load(x + i)), top); },
      [](VF a, VF b) HWY_ATTR { return hn::Max(a, b); });
  return hn::GetLane(hn::MaxOfLanes(F32(), best));
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
