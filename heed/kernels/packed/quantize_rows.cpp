#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/packed/quantize_rows.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "heed/base/threads.h"
#include "heed/kernels/packed/quantize_rows.h"
#include "heed/kernels/simd.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

using F32 = hn::ScalableTag<float>;
using I32 = hn::RebindToSigned<F32>;
using I8 = hn::Rebind<std::int8_t, F32>;

// Groups of smaller numbers become zeros: the reciprocal of their scale would overflow.
constexpr float kLeast = 1e-30f;

// Calls take(vector) for all of n numbers; lanes after the last are 0.
template <typename Take>
HWY_INLINE void for_vectors(const float* x, std::int64_t n, const Take& take) {
  const F32 d;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + width <= n; i += width) take(hn::LoadU(d, x + i));
  if (i < n) take(LoadFirst(d, x + i, static_cast<std::size_t>(n - i)));
}

// The greatest of bits of floats without sign, as a float; NaN if it is that of NaN or infinity,
// which come last in the order of integers.
HWY_INLINE float finite_or_nan(hn::Vec<I32> bits) {
  const float found = std::bit_cast<float>(hn::GetLane(hn::MaxOfLanes(I32(), bits)));
  return found <= std::numeric_limits<float>::max() ? found
                                                    : std::numeric_limits<float>::quiet_NaN();
}

// Integers of both signs: the factor of numbers, the scale of integers.
struct SignedGroup {
  HWY_INLINE SignedGroup(const float* x, std::int64_t n) {
    auto bits = hn::Zero(I32());
    for_vectors(x, n,
                [&](auto v) HWY_ATTR { bits = hn::Max(bits, hn::BitCast(I32(), hn::Abs(v))); });
    const float greatest = finite_or_nan(bits);
    factor = greatest > kLeast ? 127.0f / greatest : 0.0f;
    scale = greatest / 127.0f;
  }
  HWY_INLINE hn::Vec<I32> integers(hn::Vec<F32> x) const {
    return hn::NearestInt(hn::Mul(x, hn::Set(F32(), factor)));
  }
  float factor, scale;
};

// Integers without sign. As integers, floats above 0 are in their own order, and those below 0 are
// less than all of them.
struct OffsetGroup {
  HWY_INLINE OffsetGroup(const float* x, std::int64_t n) {
    const auto sign = hn::Set(I32(), std::numeric_limits<std::int32_t>::min());
    auto above = hn::Zero(I32()), below = above;
    for_vectors(x, n, [&](auto v) HWY_ATTR {
      const auto bits = hn::BitCast(I32(), v);
      above = hn::Max(above, bits);
      below = hn::Max(below, hn::Xor(bits, sign));
    });
    const float least = -finite_or_nan(below);
    const float half = 0.5f * finite_or_nan(above) - 0.5f * least;  // the range may overflow
    factor = half > kLeast ? 63.0f / half : 0.0f;
    scale = half / 63.0f;
    offset = factor > 0.0f ? hn::GetLane(hn::NearestInt(hn::Set(F32(), least * factor))) : 0;
  }
  HWY_INLINE hn::Vec<I32> integers(hn::Vec<F32> x) const {
    return hn::Sub(hn::NearestInt(hn::Mul(x, hn::Set(F32(), factor))), hn::Set(I32(), offset));
  }
  float factor, scale;
  std::int32_t offset;
};

// Writes the integers of n numbers.
template <typename Group>
HWY_INLINE void write_integers(const Group& group, const float* x, std::int64_t n,
                               std::int8_t* to) {
  const F32 d;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + width <= n; i += width) {
    hn::StoreU(hn::DemoteTo(I8(), group.integers(hn::LoadU(d, x + i))), I8(), to + i);
  }
  if (i < n) {
    std::int8_t last[HWY_MAX_BYTES];
    const auto left = static_cast<std::size_t>(n - i);
    hn::StoreU(hn::DemoteTo(I8(), group.integers(LoadFirst(d, x + i, left))), I8(), last);
    std::memcpy(to + i, last, left);
  }
}

HWY_INLINE void sum_blocks(const std::int8_t* integers, std::int64_t n, float* sums) {
  for (std::int64_t at = 0; at < n; at += kBlockColumns) {
    std::int32_t sum = 0;
    const std::int64_t end = std::min(n, at + kBlockColumns);
    for (std::int64_t i = at; i < end; ++i) sum += integers[i];
    *sums++ = static_cast<float>(sum);
  }
}

// Calls take(group number, group) for the groups of a row, and writes their integers.
template <typename Group, typename Take>
HWY_INLINE void quantize(const float* x, std::int64_t n, std::int8_t* to, const Take& take) {
  for (std::int64_t at = 0, g = 0; at < n; at += kScaleColumns, ++g) {
    const std::int64_t columns = std::min(kScaleColumns, n - at);
    const Group group(x + at, columns);
    take(g, group);
    write_integers(group, x + at, columns, to + at);
  }
}

void quantize_row(const FloatRows& from, const QuantizedRows& to, std::int64_t row) {
  const std::int64_t n = from.columns, first = row * scale_groups(n);
  const float* const x = from.x + row * from.stride;
  std::int8_t* const integers = to.integers + row * to.stride;
  if (to.offsets == nullptr) {
    quantize<SignedGroup>(x, n, integers, [&](std::int64_t g, const SignedGroup& group) {
      to.scales[first + g] = group.scale;
    });
  } else {
    quantize<OffsetGroup>(x, n, integers, [&](std::int64_t g, const OffsetGroup& group) {
      to.scales[first + g] = group.scale;
      to.offsets[first + g] = group.offset;
    });
  }
  std::memset(integers + n, 0, static_cast<std::size_t>(to.stride - n));
  if (to.sums != nullptr) sum_blocks(integers, n, to.sums + row * block_count(n));
}

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(quantize_row);

void quantize_rows(const FloatRows& from, const QuantizedRows& to) {
  const auto one = &HEED_DISPATCH(quantize_row);
  parallel_for(from.rows, from.columns, [&](std::int64_t row) { one(from, to, row); });
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
