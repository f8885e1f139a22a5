#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/packed/quantize_rows.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include <algorithm>
#include <cstring>

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

// The greatest magnitude of n numbers; NaN if one of them is NaN or infinite.
HWY_INLINE float greatest_magnitude(const float* x, std::int64_t n) {
  const F32 d;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  auto greatest = hn::Zero(d), invalid = hn::Zero(d);
  const auto take = [&](auto v) HWY_ATTR {
    greatest = hn::Max(greatest, hn::Abs(v));
    invalid = hn::MulAdd(v, hn::Zero(d), invalid);  // NaN from then on
  };
  std::int64_t i = 0;
  for (; i + width <= n; i += width) take(hn::LoadU(d, x + i));
  if (i < n) take(LoadFirst(d, x + i, static_cast<std::size_t>(n - i)));
  return hn::GetLane(hn::MaxOfLanes(d, greatest)) + hn::GetLane(hn::SumOfLanes(d, invalid));
}

// One group; kFlip is 0 or 128, which is exclusive-ored to each byte.
template <unsigned char kFlip>
HWY_INLINE float quantize_group(const float* x, std::int64_t n, std::int8_t* to) {
  const F32 d;
  const I8 bytes;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  const float greatest = greatest_magnitude(x, n);
  const auto factor = hn::Set(d, greatest > kLeast ? 127.0f / greatest : 0.0f);
  const auto flip = hn::Set(bytes, static_cast<std::int8_t>(kFlip));
  const auto put = [&](auto v, std::int8_t* place) HWY_ATTR {
    const auto rounded = hn::NearestInt(hn::Mul(v, factor));
    hn::StoreU(hn::Xor(hn::DemoteTo(bytes, rounded), flip), bytes, place);
  };
  std::int64_t i = 0;
  for (; i + width <= n; i += width) put(hn::LoadU(d, x + i), to + i);
  if (i < n) {
    std::int8_t last[HWY_MAX_BYTES];
    put(LoadFirst(d, x + i, static_cast<std::size_t>(n - i)), last);
    std::memcpy(to + i, last, static_cast<std::size_t>(n - i));
  }
  return greatest / 127.0f;
}

template <unsigned char kFlip>
HWY_INLINE void quantize(const FloatRows& from, const QuantizedRows& to, std::int64_t row) {
  const std::int64_t n = from.columns, groups = scale_groups(n);
  const float* const x = from.x + row * from.stride;
  std::int8_t* const integers = to.integers + row * to.stride;
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::int64_t at = g * kScaleColumns;
    to.scales[row * groups + g] =
        quantize_group<kFlip>(x + at, std::min(kScaleColumns, n - at), integers + at);
  }
  std::memset(integers + n, kFlip, static_cast<std::size_t>(to.stride - n));
}

void quantize_signed(const FloatRows& from, const QuantizedRows& to, std::int64_t row) {
  quantize<0>(from, to, row);
}
void quantize_unsigned(const FloatRows& from, const QuantizedRows& to, std::int64_t row) {
  quantize<128>(from, to, row);
}

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(quantize_signed);
HWY_EXPORT(quantize_unsigned);

void quantize_rows(const FloatRows& from, const QuantizedRows& to) {
  const auto one = &HEED_DISPATCH(quantize_signed);
  parallel_for(from.rows, from.columns, [&](std::int64_t row) { one(from, to, row); });
}
void quantize_rows_unsigned(const FloatRows& from, const QuantizedRows& to) {
  const auto one = &HEED_DISPATCH(quantize_unsigned);
  parallel_for(from.rows, from.columns, [&](std::int64_t row) { one(from, to, row); });
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
