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
using I16 = hn::Rebind<std::int16_t, F32>;
using I8 = hn::Rebind<std::int8_t, F32>;

// Groups of smaller numbers become zeros: the reciprocal of their scale would overflow.
constexpr float kLeast = 1e-30f;

// The greatest magnitude of n numbers; NaN if one of them is NaN or infinite. Magnitudes are
// compared as integers, in whose order NaN and infinity come last.
HWY_INLINE float greatest_magnitude(const float* x, std::int64_t n) {
  const F32 d;
  const I32 bits;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  auto greatest = hn::Zero(bits);
  const auto take = [&](auto v)
                        HWY_ATTR { greatest = hn::Max(greatest, hn::BitCast(bits, hn::Abs(v))); };
  std::int64_t i = 0;
  for (; i + width <= n; i += width) take(hn::LoadU(d, x + i));
  if (i < n) take(LoadFirst(d, x + i, static_cast<std::size_t>(n - i)));
  const float found = std::bit_cast<float>(hn::GetLane(hn::MaxOfLanes(bits, greatest)));
  return found <= std::numeric_limits<float>::max() ? found
                                                    : std::numeric_limits<float>::quiet_NaN();
}

// The writers turn a vector of integers into the bytes of a form.
struct ByteWriter {
  static constexpr std::int8_t kZero = 0;
  static HWY_INLINE void put(hn::Vec<I32> v, std::int8_t* to) {
    hn::StoreU(hn::DemoteTo(I8(), v), I8(), to);
  }
};
struct UnsignedWriter {
  static constexpr std::int8_t kZero = -128;
  static HWY_INLINE void put(hn::Vec<I32> v, std::int8_t* to) {
    hn::StoreU(hn::Xor(hn::DemoteTo(I8(), v), hn::Set(I8(), kZero)), I8(), to);
  }
};
struct WordWriter {
  static constexpr std::int8_t kZero = 0;
  static HWY_INLINE void put(hn::Vec<I32> v, std::int8_t* to) {
    const hn::Repartition<std::uint8_t, I16> bytes;
    alignas(16) static constexpr std::uint8_t kOrder[16] = {0, 1, 4,  5,  2,  3,  6,  7,
                                                            8, 9, 12, 13, 10, 11, 14, 15};
    const auto words = hn::BitCast(bytes, hn::DemoteTo(I16(), v));
    const auto ordered = hn::TableLookupBytes(words, hn::LoadDup128(bytes, kOrder));
    hn::StoreU(ordered, bytes, reinterpret_cast<std::uint8_t*>(to));
  }
};

// One group of n numbers; its scale.
template <typename Writer, int kSize>
HWY_INLINE float quantize_group(const float* x, std::int64_t n, std::int8_t* to) {
  const F32 d;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  const float greatest = greatest_magnitude(x, n);
  const auto factor = hn::Set(d, greatest > kLeast ? 127.0f / greatest : 0.0f);
  const auto rounded = [&](auto v) HWY_ATTR { return hn::NearestInt(hn::Mul(v, factor)); };
  std::int64_t i = 0;
  for (; i + width <= n; i += width) Writer::put(rounded(hn::LoadU(d, x + i)), to + kSize * i);
  if (i < n) {
    std::int8_t last[HWY_MAX_BYTES];
    Writer::put(rounded(LoadFirst(d, x + i, static_cast<std::size_t>(n - i))), last);
    // Words of four columns are not in order, and there is room for all of them.
    const std::int64_t left = kSize == 1 ? n - i : (n - i + 3) / 4 * 4;
    std::memcpy(to + kSize * i, last, static_cast<std::size_t>(kSize * left));
  }
  return greatest / 127.0f;
}

HWY_INLINE void sum_blocks(const std::int8_t* integers, std::int64_t n, float* sums) {
  for (std::int64_t at = 0; at < n; at += kBlockColumns) {
    std::int32_t sum = 0;
    const std::int64_t end = std::min(n, at + kBlockColumns);
    for (std::int64_t i = at; i < end; ++i) sum += integers[i];
    *sums++ = static_cast<float>(sum);
  }
}

template <typename Writer, int kSize>
HWY_INLINE void quantize(const FloatRows& from, const QuantizedRows& to, std::int64_t row) {
  const std::int64_t n = from.columns, groups = scale_groups(n);
  const float* const x = from.x + row * from.stride;
  std::int8_t* const integers = to.integers + row * to.stride * kSize;
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::int64_t at = g * kScaleColumns;
    to.scales[row * groups + g] = quantize_group<Writer, kSize>(
        x + at, std::min(kScaleColumns, n - at), integers + kSize * at);
  }
  const std::int64_t written = kSize == 1 ? n : (n + 3) / 4 * 4;
  std::memset(integers + kSize * written, Writer::kZero,
              static_cast<std::size_t>(kSize * (to.stride - written)));
  if (to.sums != nullptr) sum_blocks(integers, n, to.sums + row * block_count(n));
}

void quantize_row(const FloatRows& from, const QuantizedRows& to, std::int64_t row) {
  switch (to.form) {
    case IntegerForm::bytes:
      return quantize<ByteWriter, 1>(from, to, row);
    case IntegerForm::unsigned_bytes:
      return quantize<UnsignedWriter, 1>(from, to, row);
    case IntegerForm::words:
      return quantize<WordWriter, 2>(from, to, row);
  }
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
