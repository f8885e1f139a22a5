#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/dropout.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/threads.h"
#include "heed/kernels/dropout.h"
#include "heed/kernels/philox-inl.h"
#include "heed/kernels/reference/dropout.h"
#include "heed/kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

// Elements [begin, end); begin is a multiple of 4.
void dropout_run(const DropoutMask& mask, const DropoutCall<float>& call, std::int64_t begin,
                 std::int64_t end) {
  const F32 d;
  const hn::RebindToUnsigned<F32> du;
  constexpr std::int64_t kWords = 512;
  HWY_ALIGN std::uint32_t words[kWords];
  const U64 d64;
  const std::uint64_t lanes = hn::Lanes(d64);
  // Incremented in a register: Iota in the inner loop would go through memory and stall.
  VU64 blocks = hn::Iota(d64, static_cast<std::uint64_t>(begin) / 4);
  const auto threshold = hn::Set(du, mask.threshold);
  const VF scale = hn::Set(d, static_cast<float>(mask.scale));
  for (std::int64_t at = begin; at < end; at += kWords) {
    const std::int64_t n = std::min(kWords, end - at);
    for (std::int64_t w = 0; w < n; w += static_cast<std::int64_t>(4 * lanes)) {
      philox_blocks(mask.random, blocks, words + w);
      blocks = hn::Add(blocks, hn::Set(d64, lanes));
    }
    const float* const x = call.x + at;
    float* const y = call.y + at;
    const auto dropped = [&](std::int64_t i, VF v) HWY_ATTR {
      const auto drops = hn::RebindMask(d, hn::Lt(hn::LoadU(du, words + i), threshold));
      return hn::IfThenZeroElse(drops, hn::Mul(v, scale));
    };
    if (call.residual == nullptr) {
      map_row(n, [&](auto part, std::int64_t i)
                     HWY_ATTR { part.store(dropped(i, part.load(x + i)), y + i); });
    } else {
      const float* const residual = call.residual + at;
      map_row(n, [&](auto part, std::int64_t i) HWY_ATTR {
        part.store(hn::Add(dropped(i, part.load(x + i)), part.load(residual + i)), y + i);
      });
    }
  }
}

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {

HWY_EXPORT(dropout_run);

constexpr std::int64_t kCell = 1 << 14;  // elements
constexpr std::int64_t kCost = 8;        // operations per element, roughly

}  // namespace

DropoutMask dropout_mask(RandomStream random, double p) {
  HEED_ASSERT(p >= 0.0 && p < 1.0);
  const double threshold = std::min(std::round(p * 0x1p32), 0x1p32 - 1.0);
  return {random, static_cast<std::uint32_t>(threshold), 1.0 / (1.0 - p)};
}

void dropout(const DropoutMask& mask, const DropoutCall<float>& call) {
  const auto run = HEED_DISPATCH(dropout_run);
  parallel_for((call.n + kCell - 1) / kCell, kCell * kCost, [&](std::int64_t cell) {
    run(mask, call, cell * kCell, std::min(call.n, (cell + 1) * kCell));
  });
}

void dropout(const DropoutMask& mask, const DropoutCall<double>& call) {
  for (std::int64_t i = 0; i < call.n; ++i) {
    const double residual = call.residual == nullptr ? 0.0 : call.residual[i];
    call.y[i] = reference::dropout(mask, i, call.x[i]) + residual;
  }
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
