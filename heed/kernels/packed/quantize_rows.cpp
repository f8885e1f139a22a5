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
using U32 = hn::RebindToUnsigned<F32>;
using U8 = hn::Rebind<std::uint8_t, F32>;

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

// Integers of both signs. A group has the factor of its numbers and the scale of its integers.
struct SignedGroup {
  HWY_INLINE SignedGroup(const float* x, std::int64_t n) {
    auto bits = hn::Zero(I32());
    for_vectors(x, n,
                [&](auto v) HWY_ATTR { bits = hn::Max(bits, hn::BitCast(I32(), hn::Abs(v))); });
    const float greatest = finite_or_nan(bits);
    factor = greatest > kLeast ? 127.0f / greatest : 0.0f;
    scale = greatest / 127.0f;
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
  float factor, scale;
  std::int32_t offset;
};

// Writes the integers of n numbers, round(x factor) - subtracted. A float of 1.5 2^23 + i has i in
// its lowest bits; to add this number rounds to the nearest integer, to even if halfway.
HWY_INLINE void write_integers(float factor, std::int32_t subtracted, const float* x,
                               std::int64_t n, std::int8_t* to) {
  const F32 d;
  const U32 du;
  const auto bytes = [&](hn::Vec<F32> numbers) HWY_ATTR {
    const auto product = hn::Mul(numbers, hn::Set(d, factor));
    const auto bits = hn::BitCast(du, hn::Add(product, hn::Set(d, 0x1.8p23f)));
    return hn::TruncateTo(U8(), hn::Sub(bits, hn::Set(du, static_cast<std::uint32_t>(subtracted))));
  };
  auto* const target = reinterpret_cast<std::uint8_t*>(to);
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + width <= n; i += width) {
    hn::StoreU(bytes(hn::LoadU(d, x + i)), U8(), target + i);
  }
  if (i < n) {
    std::uint8_t last[HWY_MAX_BYTES];
    const auto left = static_cast<std::size_t>(n - i);
    hn::StoreU(bytes(LoadFirst(d, x + i, left)), U8(), last);
    std::memcpy(target + i, last, left);
  }
}

// Calls take(block, sum) for the blocks of a row.
template <typename Take>
HWY_INLINE void sum_blocks(const std::int8_t* integers, std::int64_t n, const Take& take) {
  for (std::int64_t at = 0; at < n; at += kBlockColumns) {
    std::int32_t sum = 0;
    const std::int64_t end = std::min(n, at + kBlockColumns);
    for (std::int64_t i = at; i < end; ++i) sum += integers[i];
    take(at / kBlockColumns, static_cast<float>(sum));
  }
}

// Quantises the groups of a row: write(group number, first column, columns). The number of columns
// is a constant for whole groups, so that their loops are unrolled.
template <typename Write>
HWY_INLINE void for_groups(std::int64_t n, const Write& write) {
  std::int64_t g = 0;
  for (; (g + 1) * kScaleColumns <= n; ++g) write(g, g * kScaleColumns, kScaleColumns);
  if (g * kScaleColumns < n) write(g, g * kScaleColumns, n - g * kScaleColumns);
}

void quantize_row(const FloatRows& from, const QuantizedRows& to, std::int64_t row) {
  const std::int64_t n = from.columns, groups = scale_groups(n);
  const float* const x = from.x + row * from.stride;
  std::int8_t* const integers = to.integers + row * to.stride;
  if (to.has_common_offset || to.offsets != nullptr) {
    for_groups(n, [&](std::int64_t g, std::int64_t at, std::int64_t columns) HWY_ATTR {
      const OffsetGroup group(x + at, columns);
      to.scales[to.place(row, g, groups)] = group.scale;
      if (!to.has_common_offset) to.offsets[to.place(row, g, groups)] = group.offset;
      const std::int32_t offset = to.has_common_offset ? kCommonOffset : group.offset;
      write_integers(group.factor, offset, x + at, columns, integers + at);
    });
  } else {
    for_groups(n, [&](std::int64_t g, std::int64_t at, std::int64_t columns) HWY_ATTR {
      const SignedGroup group(x + at, columns);
      to.scales[to.place(row, g, groups)] = group.scale;
      write_integers(group.factor, 0, x + at, columns, integers + at);
    });
  }
  std::memset(integers + n, 0, static_cast<std::size_t>(to.stride - n));
  if (to.sums == nullptr) return;
  sum_blocks(integers, n, [&](std::int64_t block, float sum) {
    to.sums[to.place(row, block, block_count(n))] = sum;
  });
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
