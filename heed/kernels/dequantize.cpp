#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/dequantize.cpp"
#include "heed/kernels/foreach_target.h"

#include <algorithm>
#include <cstdint>

#include "heed/base/error.h"
#include "heed/base/threads.h"
#include "heed/kernels/dequantize.h"
#include "heed/kernels/half-inl.h"
#include "heed/kernels/reference/dequantize.h"
#include "heed/kernels/simd.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

using reference::load;
using reference::load_half;

// At most 16 lanes, so that a vector never holds more than 16 of the 32 elements of a block.
using F32 = hn::CappedTag<float, 16>;
using I32 = hn::Rebind<std::int32_t, F32>;
using U32 = hn::Rebind<std::uint32_t, F32>;
using U8 = hn::Rebind<std::uint8_t, F32>;
using I8 = hn::Rebind<std::int8_t, F32>;
using U16 = hn::Rebind<std::uint16_t, F32>;

HWY_INLINE hn::Vec<U8> bytes_at(const std::byte* p) {
  return hn::LoadU(U8(), reinterpret_cast<const std::uint8_t*>(p));
}

// 16-bit elements at any address.
HWY_INLINE hn::Vec<U16> words_at(const std::byte* p) {
  const hn::Repartition<std::uint8_t, U16> d8;
  return hn::BitCast(U16(), hn::LoadU(d8, reinterpret_cast<const std::uint8_t*>(p)));
}

HWY_INLINE hn::Vec<F32> to_float(hn::Vec<I32> q) { return hn::ConvertTo(F32(), q); }

// 4 bits of each byte as integers.
template <bool kHigh>
HWY_INLINE hn::Vec<I32> nibbles(hn::Vec<U8> bytes) {
  const hn::Vec<U8> q =
      kHigh ? hn::ShiftRight<4>(bytes) : hn::And(bytes, hn::Set(U8(), std::uint8_t{15}));
  return hn::PromoteTo(I32(), q);
}

// 16 or 0: the fifth bits of the elements from `first` on.
HWY_INLINE hn::Vec<I32> fifth_bits(std::uint32_t bits, std::size_t first) {
  const auto shifted =
      hn::Shr(hn::Set(U32(), bits), hn::Iota(U32(), static_cast<std::uint32_t>(first)));
  return hn::BitCast(I32(), hn::ShiftLeft<4>(hn::And(shifted, hn::Set(U32(), 1))));
}

// The same expressions as in the reference, without fused multiply-add: the bits must agree.
HWY_INLINE void store_scaled(hn::Vec<I32> q, hn::Vec<F32> d, float* to) {
  hn::StoreU(hn::Mul(d, to_float(q)), F32(), to);
}
HWY_INLINE void store_affine(hn::Vec<I32> q, hn::Vec<F32> d, hn::Vec<F32> m, float* to) {
  hn::StoreU(hn::Add(hn::Mul(d, to_float(q)), m), F32(), to);
}

void f16_blocks(const std::byte* from, float* to, std::size_t n) {
  const std::size_t lanes = hn::Lanes(F32());
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(halves_to_float(F32(), words_at(from + 2 * i)), F32(), to + i);
  }
  for (; i < n; ++i) reference::dequantize_f16(from + 2 * i, to + i);
}

void bf16_blocks(const std::byte* from, float* to, std::size_t n) {
  const std::size_t lanes = hn::Lanes(F32());
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto bits = hn::ShiftLeft<16>(hn::PromoteTo(U32(), words_at(from + 2 * i)));
    hn::StoreU(hn::BitCast(F32(), bits), F32(), to + i);
  }
  for (; i < n; ++i) reference::dequantize_bf16(from + 2 * i, to + i);
}

void q4_0_blocks(const std::byte* b, float* to, std::size_t n) {
  const std::size_t lanes = hn::Lanes(F32());
  const auto eight = hn::Set(I32(), 8);
  for (std::size_t k = 0; k < n; ++k, b += 18, to += 32) {
    const auto d = hn::Set(F32(), load_half(b));
    for (std::size_t i = 0; i < 16; i += lanes) {
      const auto bytes = bytes_at(b + 2 + i);
      store_scaled(hn::Sub(nibbles<false>(bytes), eight), d, to + i);
      store_scaled(hn::Sub(nibbles<true>(bytes), eight), d, to + 16 + i);
    }
  }
}

void q4_1_blocks(const std::byte* b, float* to, std::size_t n) {
  const std::size_t lanes = hn::Lanes(F32());
  for (std::size_t k = 0; k < n; ++k, b += 20, to += 32) {
    const auto d = hn::Set(F32(), load_half(b));
    const auto m = hn::Set(F32(), load_half(b + 2));
    for (std::size_t i = 0; i < 16; i += lanes) {
      const auto bytes = bytes_at(b + 4 + i);
      store_affine(nibbles<false>(bytes), d, m, to + i);
      store_affine(nibbles<true>(bytes), d, m, to + 16 + i);
    }
  }
}

void q5_0_blocks(const std::byte* b, float* to, std::size_t n) {
  const std::size_t lanes = hn::Lanes(F32());
  const auto sixteen = hn::Set(I32(), 16);
  for (std::size_t k = 0; k < n; ++k, b += 22, to += 32) {
    const auto d = hn::Set(F32(), load_half(b));
    const auto high = load<std::uint32_t>(b + 2);
    for (std::size_t i = 0; i < 16; i += lanes) {
      const auto bytes = bytes_at(b + 6 + i);
      const auto low = hn::Or(nibbles<false>(bytes), fifth_bits(high, i));
      const auto upper = hn::Or(nibbles<true>(bytes), fifth_bits(high, i + 16));
      store_scaled(hn::Sub(low, sixteen), d, to + i);
      store_scaled(hn::Sub(upper, sixteen), d, to + 16 + i);
    }
  }
}

void q5_1_blocks(const std::byte* b, float* to, std::size_t n) {
  const std::size_t lanes = hn::Lanes(F32());
  for (std::size_t k = 0; k < n; ++k, b += 24, to += 32) {
    const auto d = hn::Set(F32(), load_half(b));
    const auto m = hn::Set(F32(), load_half(b + 2));
    const auto high = load<std::uint32_t>(b + 4);
    for (std::size_t i = 0; i < 16; i += lanes) {
      const auto bytes = bytes_at(b + 8 + i);
      store_affine(hn::Or(nibbles<false>(bytes), fifth_bits(high, i)), d, m, to + i);
      store_affine(hn::Or(nibbles<true>(bytes), fifth_bits(high, i + 16)), d, m, to + 16 + i);
    }
  }
}

void q8_0_blocks(const std::byte* b, float* to, std::size_t n) {
  const std::size_t lanes = hn::Lanes(F32());
  for (std::size_t k = 0; k < n; ++k, b += 34, to += 32) {
    const auto d = hn::Set(F32(), load_half(b));
    for (std::size_t i = 0; i < 32; i += lanes) {
      const auto q = hn::BitCast(I8(), bytes_at(b + 2 + i));
      store_scaled(hn::PromoteTo(I32(), q), d, to + i);
    }
  }
}

// The 256 elements of Q4_K and Q5_K; `fifth` is null for Q4_K.
HWY_INLINE void k_block(const std::byte* b, const std::byte* fifth, const std::byte* q, float* to) {
  const std::size_t lanes = hn::Lanes(F32());
  const float d = load_half(b), dmin = load_half(b + 2);
  for (int j = 0; j < 8; j += 2, q += 32, to += 64) {
    const auto [scale0, minimum0] = reference::scale_and_minimum(b + 4, j);
    const auto [scale1, minimum1] = reference::scale_and_minimum(b + 4, j + 1);
    const auto d0 = hn::Set(F32(), d * static_cast<float>(scale0));
    const auto d1 = hn::Set(F32(), d * static_cast<float>(scale1));
    const auto m0 = hn::Set(F32(), -(dmin * static_cast<float>(minimum0)));
    const auto m1 = hn::Set(F32(), -(dmin * static_cast<float>(minimum1)));
    for (std::size_t i = 0; i < 32; i += lanes) {
      const auto bytes = bytes_at(q + i);
      auto q0 = nibbles<false>(bytes), q1 = nibbles<true>(bytes);
      if (fifth) {
        const auto bits = hn::ShiftRightSame(hn::PromoteTo(I32(), bytes_at(fifth + i)), j);
        const auto one = hn::Set(I32(), 1);
        q0 = hn::Or(q0, hn::ShiftLeft<4>(hn::And(bits, one)));
        q1 = hn::Or(q1, hn::ShiftLeft<4>(hn::And(hn::ShiftRight<1>(bits), one)));
      }
      store_affine(q0, d0, m0, to + i);
      store_affine(q1, d1, m1, to + 32 + i);
    }
  }
}

void q4_k_blocks(const std::byte* b, float* to, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k, b += 144, to += 256) k_block(b, nullptr, b + 16, to);
}

void q5_k_blocks(const std::byte* b, float* to, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k, b += 176, to += 256) k_block(b, b + 16, b + 48, to);
}

// A group of 32 elements of Q6_K: `part` selects 4 bits of low and 2 bits of high.
template <int kPart>
HWY_INLINE void q6_group(const std::byte* low, const std::byte* high, const std::byte* scales,
                         float d, float* to) {
  const std::size_t lanes = hn::Lanes(F32());
  for (std::size_t i = 0; i < 32; i += lanes) {
    const auto scale = static_cast<float>(load<std::int8_t>(scales + i / 16));
    const auto upper =
        hn::And(hn::ShiftRight<2 * kPart>(bytes_at(high + i)), hn::Set(U8(), std::uint8_t{3}));
    const auto q = hn::Or(nibbles<(kPart >= 2)>(bytes_at(low + i)),
                          hn::ShiftLeft<4>(hn::PromoteTo(I32(), upper)));
    store_scaled(hn::Sub(q, hn::Set(I32(), 32)), hn::Set(F32(), d * scale), to + i);
  }
}

void q6_k_blocks(const std::byte* b, float* to, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k, b += 210, to += 256) {
    const float d = load_half(b + 208);
    for (int half = 0; half < 2; ++half) {
      const std::byte* const low = b + half * 64;
      const std::byte* const high = b + 128 + half * 32;
      const std::byte* const scales = b + 192 + half * 8;
      float* const out = to + half * 128;
      q6_group<0>(low, high, scales, d, out);
      q6_group<1>(low + 32, high, scales + 2, d, out + 32);
      q6_group<2>(low, high, scales + 4, d, out + 64);
      q6_group<3>(low + 32, high, scales + 6, d, out + 96);
    }
  }
}

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

// The types that are read: name in io::TensorType, kernel.
#define HEED_DEQUANTIZED(X) \
  X(F16, f16_blocks)        \
  X(BF16, bf16_blocks)      \
  X(Q4_0, q4_0_blocks)      \
  X(Q4_1, q4_1_blocks)      \
  X(Q5_0, q5_0_blocks)      \
  X(Q5_1, q5_1_blocks)      \
  X(Q8_0, q8_0_blocks)      \
  X(Q4_K, q4_k_blocks)      \
  X(Q5_K, q5_k_blocks)      \
  X(Q6_K, q6_k_blocks)

#define HEED_X(type, kernel) HWY_EXPORT(kernel);
HEED_DEQUANTIZED(HEED_X)
#undef HEED_X

namespace {

using Kernel = void (*)(const std::byte*, float*, std::size_t);

Kernel kernel_of(io::TensorType type) {
  switch (type) {
#define HEED_X(name, kernel) \
  case io::TensorType::name: \
    return HEED_DISPATCH(kernel);
    HEED_DEQUANTIZED(HEED_X)
#undef HEED_X
    default:
      return nullptr;
  }
}

constexpr std::size_t kCellElements = 1 << 14;  // of float: 64 KiB written

}  // namespace

bool can_dequantize(io::TensorType type) { return kernel_of(type) != nullptr; }

std::string dequantized_types() {
  std::string names;
#define HEED_X(name, kernel) names.append(names.empty() ? "" : ", ").append(#name);
  HEED_DEQUANTIZED(HEED_X)
#undef HEED_X
  return names;
}

void dequantize(io::TensorType type, std::span<const std::byte> from, std::span<float> to) {
  const Kernel kernel = kernel_of(type);
  const io::TensorTypeInfo& t = io::info(type);
  HEED_ASSERT(kernel != nullptr);
  HEED_ASSERT(to.size() % t.block == 0 && from.size() == to.size() / t.block * t.block_bytes);
  const std::size_t blocks = to.size() / t.block;
  const std::size_t cell = kCellElements / t.block;  // blocks of a cell
  const auto cells = static_cast<std::int64_t>((blocks + cell - 1) / cell);
  parallel_for(cells, kCellElements * 6, [&](std::int64_t i) {
    const std::size_t first = static_cast<std::size_t>(i) * cell;
    kernel(from.data() + first * t.block_bytes, to.data() + first * t.block,
           std::min(cell, blocks - first));
  });
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
