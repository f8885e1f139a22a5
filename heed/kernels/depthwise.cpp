#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/depthwise.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include <algorithm>

#include "heed/base/threads.h"
#include "heed/kernels/depthwise.h"
#include "heed/kernels/simd.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

// y[i * to] += factor * x[i * from]; uses vectors if both rows are contiguous.
void add_scaled(std::int64_t n, float factor, const float* x, std::int64_t from, float* y,
                std::int64_t to) {
  std::int64_t i = 0;
  if (from == 1 && to == 1) {
    const hn::ScalableTag<float> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const auto k = hn::Set(d, factor);
    for (; i + lanes <= n; i += lanes) {
      hn::StoreU(hn::MulAdd(k, hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, y + i);
    }
    if (i < n) {
      const auto rest = static_cast<std::size_t>(n - i);
      StoreFirst(hn::MulAdd(k, LoadFirst(d, x + i, rest), LoadFirst(d, y + i, rest)), d, y + i,
                 rest);
    }
    return;
  }
  for (; i < n; ++i) y[i * to] += factor * x[i * from];
}

float dot(std::int64_t n, const float* a, const float* b, std::int64_t step) {
  if (step != 1) {
    float sum = 0.0f;
    for (std::int64_t i = 0; i < n; ++i) sum += a[i] * b[i * step];
    return sum;
  }
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto even = hn::Zero(d);
  auto odd = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    even = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), even);
    odd = hn::MulAdd(hn::LoadU(d, a + i + lanes), hn::LoadU(d, b + i + lanes), odd);
  }
  for (; i + lanes <= n; i += lanes) {
    even = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), even);
  }
  if (i < n) {
    const auto rest = static_cast<std::size_t>(n - i);
    odd = hn::MulAdd(LoadFirst(d, a + i, rest), LoadFirst(d, b + i, rest), odd);
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
}

// Adds one input plane to one output plane: y += weight * x.
void plane_forward(const Window& w, const float* x, const float* weight, float* y) {
  for (std::int64_t tap = 0; tap < w.taps(); ++tap) {
    for_each_piece(w, tap, {0, w.outputs()},
                   [&](std::int64_t out, std::int64_t in, std::int64_t n) HWY_ATTR {
                     add_scaled(n, weight[tap], x + in, w.columns.stride, y + out, 1);
                   });
  }
}

void plane_backward_input(const Window& w, const float* weight, const float* dy, float* dx) {
  for (std::int64_t tap = 0; tap < w.taps(); ++tap) {
    for_each_piece(w, tap, {0, w.outputs()},
                   [&](std::int64_t out, std::int64_t in, std::int64_t n) HWY_ATTR {
                     add_scaled(n, weight[tap], dy + out, 1, dx + in, w.columns.stride);
                   });
  }
}

void plane_backward_weight(const Window& w, const float* x, const float* dy, float* dw) {
  for (std::int64_t tap = 0; tap < w.taps(); ++tap) {
    float sum = 0.0f;
    for_each_piece(w, tap, {0, w.outputs()},
                   [&](std::int64_t out, std::int64_t in, std::int64_t n)
                       HWY_ATTR { sum += dot(n, dy + out, x + in, w.columns.stride); });
    dw[tap] += sum;
  }
}

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(plane_forward);
HWY_EXPORT(plane_backward_input);
HWY_EXPORT(plane_backward_weight);

void depthwise(const ConvShape& s, const float* x, const float* weight, const float* bias,
               float* y) {
  const auto plane = HEED_DISPATCH(plane_forward);
  const std::int64_t size = s.window.outputs();
  const std::int64_t taps = s.window.taps();
  parallel_for(s.batch * s.out_channels, size * taps, [&](std::int64_t cell) {
    const std::int64_t o = cell % s.out_channels;
    const std::int64_t channel = cell / s.out_channels * s.in_channels + o / s.group_out();
    std::fill_n(y + cell * size, size, bias != nullptr ? bias[o] : 0.0f);
    plane(s.window, x + channel * s.window.inputs(), weight + o * taps, y + cell * size);
  });
}

void depthwise_backward_input(const ConvShape& s, const float* weight, const float* dy, float* dx) {
  const auto plane = HEED_DISPATCH(plane_backward_input);
  const std::int64_t size = s.window.inputs();
  const std::int64_t taps = s.window.taps();
  const std::int64_t cost = s.window.outputs() * taps * s.group_out();
  parallel_for(s.batch * s.in_channels, cost, [&](std::int64_t cell) {
    std::fill_n(dx + cell * size, size, 0.0f);
    const std::int64_t first = cell % s.in_channels * s.group_out();
    for (std::int64_t o = first; o < first + s.group_out(); ++o) {
      const std::int64_t out = cell / s.in_channels * s.out_channels + o;
      plane(s.window, weight + o * taps, dy + out * s.window.outputs(), dx + cell * size);
    }
  });
}

void depthwise_backward_weight(const ConvShape& s, const float* x, const float* dy, float* dw) {
  const auto plane = HEED_DISPATCH(plane_backward_weight);
  const std::int64_t taps = s.window.taps();
  const std::int64_t cost = s.batch * s.window.outputs() * taps;
  parallel_for(s.out_channels, cost, [&](std::int64_t o) {
    std::fill_n(dw + o * taps, taps, 0.0f);
    for (std::int64_t b = 0; b < s.batch; ++b) {
      const std::int64_t channel = b * s.in_channels + o / s.group_out();
      plane(s.window, x + channel * s.window.inputs(),
            dy + (b * s.out_channels + o) * s.window.outputs(), dw + o * taps);
    }
  });
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
