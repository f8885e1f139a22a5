// Copies strided operands of a run into contiguous blocks, so that the SIMD code of elementwise
// kernels reads only contiguous memory. A contiguous operand is used in place; others go through a
// small buffer in L1.
#if defined(HEED_KERNELS_STAGING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_STAGING_INL_H_
#undef HEED_KERNELS_STAGING_INL_H_
#else
#define HEED_KERNELS_STAGING_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include <hwy/cache_control.h>

#include "heed/kernels/simd.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

inline constexpr std::int64_t kStage = 512;  // 2 KiB per buffer: four fit L1 together with the data

struct StagedInput {
  const float* base;
  std::int64_t step;  // elements from one to the next; 0: one value for all
  HWY_ALIGN float buffer[kStage];

  StagedInput(const float* data, std::int64_t stride) : base(data), step(stride) {
    if (step == 0) std::fill_n(buffer, kStage, *data);
  }
  const float* block(std::int64_t at, std::int64_t n) {
    if (step == 1) return base + at;
    if (step != 0) {
      for (std::int64_t i = 0; i < n; ++i) buffer[i] = base[(at + i) * step];
    }
    return buffer;
  }
};

struct StagedOutput {
  float* base;
  std::int64_t step;
  HWY_ALIGN float buffer[kStage];

  StagedOutput(float* data, std::int64_t stride) : base(data), step(stride) {}
  float* block(std::int64_t at) { return step == 1 ? base + at : buffer; }
  void store(std::int64_t at, std::int64_t n) {
    if (step == 1) return;
    for (std::int64_t i = 0; i < n; ++i) base[(at + i) * step] = buffer[i];
  }
};

/// y[i] = f(x[i]...) over n contiguous elements. Streamed results (kernels/stream.h) start at an
/// aligned y.
template <bool kStream, typename F, typename... In>
HWY_INLINE void map_contiguous(const F& f, std::int64_t n, float* HWY_RESTRICT y, const In*... x) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const auto first = f(hn::LoadU(d, x + i)...);
    const auto second = f(hn::LoadU(d, x + i + lanes)...);
    StoreWhole<kStream>(first, d, y + i);
    StoreWhole<kStream>(second, d, y + i + lanes);
  }
  for (; i + lanes <= n; i += lanes) StoreWhole<kStream>(f(hn::LoadU(d, x + i)...), d, y + i);
  if (i < n) {
    const auto rest = static_cast<std::size_t>(n - i);
    StoreFirst(f(LoadFirst(d, x + i, rest)...), d, y + i, rest);
  }
  if constexpr (kStream) hwy::FlushStream();
}

/// The same over strided operands.
template <typename F>
void map_run(const F& f, std::int64_t n, float* y, std::int64_t sy, const float* a, std::int64_t sa,
             bool stream) {
  if (sy == 1 && sa == 1) {
    return stream ? map_contiguous<true>(f, n, y, a) : map_contiguous<false>(f, n, y, a);
  }
  StagedInput in(a, sa);
  StagedOutput out(y, sy);
  for (std::int64_t at = 0; at < n; at += kStage) {
    const std::int64_t m = std::min(kStage, n - at);
    map_contiguous<false>(f, m, out.block(at), in.block(at, m));
    out.store(at, m);
  }
}

template <typename F>
void map_run(const F& f, std::int64_t n, float* y, std::int64_t sy, const float* a, std::int64_t sa,
             const float* b, std::int64_t sb, bool stream) {
  if (sy == 1 && sa == 1 && sb == 1) {
    return stream ? map_contiguous<true>(f, n, y, a, b) : map_contiguous<false>(f, n, y, a, b);
  }
  StagedInput first(a, sa);
  StagedInput second(b, sb);
  StagedOutput out(y, sy);
  for (std::int64_t at = 0; at < n; at += kStage) {
    const std::int64_t m = std::min(kStage, n - at);
    map_contiguous<false>(f, m, out.block(at), first.block(at, m), second.block(at, m));
    out.store(at, m);
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
