#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cross_entropy.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include <algorithm>
#include <cmath>

#include "heed/kernels/cross_entropy.h"
#include "heed/kernels/exp_sum-inl.h"
#include "heed/kernels/math-inl.h"
#include "heed/kernels/reference/cross_entropy.h"
#include "heed/kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

float total_of(std::int64_t n, const float* x) {
  return sum_row(n, [=](auto part, std::int64_t i, VF sum)
                        HWY_ATTR { return hn::Add(sum, part.load(x + i)); });
}

void cross_entropy_row(const CrossEntropyForward<float>& c, std::int64_t row) {
  const std::int64_t n = c.rows.width;
  const float* const x = c.logits + row * n;
  const auto smoothing = static_cast<float>(c.smoothing);
  float x_total = 0.0f;
  const ExpSum sum = exp_sum(n, x, [&](std::int64_t at, std::int64_t m, float /*top*/) HWY_ATTR {
    if (smoothing > 0.0f) x_total += total_of(m, x + at);
  });
  const float log_total = std::log(sum.total);
  // Subtracts from the maximum first: these differences are small where the loss is small.
  float distance = (1.0f - smoothing) * (sum.shift - x[c.targets[row]]);
  if (smoothing > 0.0f) distance += smoothing * (sum.shift - x_total / static_cast<float>(n));
  c.loss[row] = log_total + distance;
  c.log_sum_exp[row] = sum.shift + log_total;
}

void cross_entropy_backward_row(const CrossEntropyBackward<float>& c, std::int64_t row) {
  const F32 d;
  const std::int64_t n = c.rows.width;
  const float* const x = c.logits + row * n;
  float* const dx = c.dlogits + row * n;
  const float smoothing =
      c.smoothings != nullptr ? c.smoothings[row] : static_cast<float>(c.smoothing);
  const VF log_sum_exp = hn::Set(d, c.log_sum_exp[row]);
  const VF scale = hn::Set(d, c.dloss[row]);
  const VF spread = hn::Set(d, c.dloss[row] * smoothing / static_cast<float>(n));
  map_row(n, [=](auto part, std::int64_t i) HWY_ATTR {
    const VF p = Exp(d, hn::Sub(part.load(x + i), log_sum_exp));
    part.store(hn::MulSub(p, scale, spread), dx + i);
  });
  dx[c.targets[row]] -= c.dloss[row] * (1.0f - smoothing);
}

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {

HWY_EXPORT(cross_entropy_row);
HWY_EXPORT(cross_entropy_backward_row);

constexpr std::int64_t kCost = 8;  // operations per element, roughly

template <typename F>
void for_each_row(Rows rows, const F& f) {
  for_each_rows(rows, rows_per_cell(rows), kCost, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t r = first; r < first + count; ++r) f(r);
  });
}

template <typename T, typename Row>
void forward(const CrossEntropyForward<T>& c, const Row& row) {
  for_each_row(c.rows, [&](std::int64_t r) {
    if (c.targets[r] != kIgnoredTarget) return row(c, r);
    c.loss[r] = T{0};
    c.log_sum_exp[r] = T{0};
  });
}

template <typename T, typename Row>
void backward(const CrossEntropyBackward<T>& c, const Row& row) {
  for_each_row(c.rows, [&](std::int64_t r) {
    if (c.targets[r] != kIgnoredTarget) return row(c, r);
    std::fill_n(c.dlogits + r * c.rows.width, c.rows.width, T{0});
  });
}

}  // namespace

void cross_entropy(const CrossEntropyForward<float>& call) {
  forward(call, HEED_DISPATCH(cross_entropy_row));
}
void cross_entropy(const CrossEntropyForward<double>& call) {
  forward(call, reference::cross_entropy_row);
}

void cross_entropy_backward(const CrossEntropyBackward<float>& call) {
  backward(call, HEED_DISPATCH(cross_entropy_backward_row));
}
void cross_entropy_backward(const CrossEntropyBackward<double>& call) {
  backward(call, reference::cross_entropy_backward_row);
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
