#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/convert.cpp"
#include "heed/kernels/foreach_target.h"

#include <algorithm>
#include <cstdint>

#include "heed/base/error.h"
#include "heed/base/threads.h"
#include "heed/kernels/bf16-inl.h"
#include "heed/kernels/convert.h"
#include "heed/kernels/simd.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

void widen_all(const std::uint16_t* from, float* to, std::size_t n) {
  const F32 d;
  const Bf16Tag dh;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(widen(hn::LoadU(dh, from + i)), d, to + i);
  if (i < n) StoreFirst(widen(LoadFirst(dh, from + i, n - i)), d, to + i, n - i);
}

void narrow_all(const float* from, std::uint16_t* to, std::size_t n) {
  const F32 d;
  const Bf16Tag dh;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(narrow(hn::LoadU(d, from + i)), dh, to + i);
  if (i < n) StoreFirst(narrow(LoadFirst(d, from + i, n - i)), dh, to + i, n - i);
}

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(widen_all);
HWY_EXPORT(narrow_all);

namespace {

static_assert(sizeof(BFloat16) == sizeof(std::uint16_t), "arrays of BFloat16 are read as uint16_t");

constexpr std::size_t kBlock = 1 << 14;  // elements in a cell: 96 KiB read and written

// Calls run(first, count) for each block of an array of n elements.
template <typename Run>
void for_each_block(std::size_t n, const Run& run) {
  const auto blocks = static_cast<std::int64_t>((n + kBlock - 1) / kBlock);
  parallel_for(blocks, kBlock * 6, [&](std::int64_t block) {
    const std::size_t first = static_cast<std::size_t>(block) * kBlock;
    run(first, std::min(kBlock, n - first));
  });
}

}  // namespace

void convert(std::span<const BFloat16> from, std::span<float> to) {
  HEED_ASSERT(from.size() == to.size());
  const auto kernel = &HEED_DISPATCH(widen_all);
  const auto* bits = reinterpret_cast<const std::uint16_t*>(from.data());
  for_each_block(from.size(), [&](std::size_t first, std::size_t count) {
    kernel(bits + first, to.data() + first, count);
  });
}

void convert(std::span<const float> from, std::span<BFloat16> to) {
  HEED_ASSERT(from.size() == to.size());
  const auto kernel = &HEED_DISPATCH(narrow_all);
  auto* bits = reinterpret_cast<std::uint16_t*>(to.data());
  for_each_block(from.size(), [&](std::size_t first, std::size_t count) {
    kernel(from.data() + first, bits + first, count);
  });
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
