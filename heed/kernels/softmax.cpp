#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/softmax.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include <cmath>
#include <limits>

#include "heed/kernels/math-inl.h"
#include "heed/kernels/reference/softmax.h"
#include "heed/kernels/rows-inl.h"
#include "heed/kernels/softmax.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

// The maximum, or 0 if every element is -inf: exp(x - shift) is then 0 for each, and NaN for a NaN.
float softmax_shift(const float* x, std::int64_t n) {
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  const float top = max_row(x, n, kLowest);
  return top == kLowest ? 0.0f : top;
}

void softmax_row(std::int64_t n, const float* x, float* y) {
  const F32 d;
  const VF shift = hn::Set(d, softmax_shift(x, n));
  const float total = sum_row(n, [=](auto part, std::int64_t i, VF sum) HWY_ATTR {
    const VF e = Exp(d, hn::Sub(part.load(x + i), shift));
    part.store(e, y + i);
    return part.keep(hn::Add(sum, e), sum);
  });
  const VF scale = hn::Set(d, total == 0.0f ? 0.0f : 1.0f / total);
  map_row(n, [=](auto part, std::int64_t i)
                 HWY_ATTR { part.store(hn::Mul(part.load(y + i), scale), y + i); });
}

void log_softmax_row(std::int64_t n, const float* x, float* y) {
  const F32 d;
  const VF shift = hn::Set(d, softmax_shift(x, n));
  const float total = sum_row(n, [=](auto part, std::int64_t i, VF sum) HWY_ATTR {
    return part.keep(hn::Add(sum, Exp(d, hn::Sub(part.load(x + i), shift))), sum);
  });
  const VF log_total = hn::Set(d, total == 0.0f ? 0.0f : std::log(total));
  map_row(n, [=](auto part, std::int64_t i) HWY_ATTR {
    part.store(hn::Sub(hn::Sub(part.load(x + i), shift), log_total), y + i);
  });
}

void softmax_backward_row(std::int64_t n, const float* y, const float* dy, float* dx) {
  const VF dot = hn::Set(F32(), sum_row(n, [=](auto part, std::int64_t i, VF sum) HWY_ATTR {
                           return hn::MulAdd(part.load(dy + i), part.load(y + i), sum);
                         }));
  map_row(n, [=](auto part, std::int64_t i) HWY_ATTR {
    part.store(hn::Mul(part.load(y + i), hn::Sub(part.load(dy + i), dot)), dx + i);
  });
}

void log_softmax_backward_row(std::int64_t n, const float* y, const float* dy, float* dx) {
  const F32 d;
  const VF total = hn::Set(d, sum_row(n, [=](auto part, std::int64_t i, VF sum)
                                             HWY_ATTR { return hn::Add(sum, part.load(dy + i)); }));
  map_row(n, [=](auto part, std::int64_t i) HWY_ATTR {
    part.store(hn::NegMulAdd(Exp(d, part.load(y + i)), total, part.load(dy + i)), dx + i);
  });
}

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {

HWY_EXPORT(softmax_row);
HWY_EXPORT(softmax_backward_row);
HWY_EXPORT(log_softmax_row);
HWY_EXPORT(log_softmax_backward_row);

// Rough costs for the thread pool's serial cut-off.
constexpr std::int64_t kCheap = 2;
constexpr std::int64_t kDear = 8;

// Calls row(width, pointers to that row...) for each row.
template <typename Row, typename... T>
void for_each_row(Rows rows, std::int64_t cost, const Row& row, T*... data) {
  for_each_rows(rows, rows_per_cell(rows), cost, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t r = first; r < first + count; ++r) {
      row(rows.width, data + r * rows.width...);
    }
  });
}

}  // namespace

void softmax(Rows rows, const float* x, float* y) {
  for_each_row(rows, kDear, HEED_DISPATCH(softmax_row), x, y);
}
void softmax(Rows rows, const double* x, double* y) {
  for_each_row(rows, kDear, reference::softmax, x, y);
}

void softmax_backward(Rows rows, const float* y, const float* dy, float* dx) {
  for_each_row(rows, kCheap, HEED_DISPATCH(softmax_backward_row), y, dy, dx);
}
void softmax_backward(Rows rows, const double* y, const double* dy, double* dx) {
  for_each_row(rows, kCheap, reference::softmax_backward, y, dy, dx);
}

void log_softmax(Rows rows, const float* x, float* y) {
  for_each_row(rows, kDear, HEED_DISPATCH(log_softmax_row), x, y);
}
void log_softmax(Rows rows, const double* x, double* y) {
  for_each_row(rows, kDear, reference::log_softmax, x, y);
}

void log_softmax_backward(Rows rows, const float* y, const float* dy, float* dx) {
  for_each_row(rows, kDear, HEED_DISPATCH(log_softmax_backward_row), y, dy, dx);
}
void log_softmax_backward(Rows rows, const double* y, const double* dy, double* dx) {
  for_each_row(rows, kDear, reference::log_softmax_backward, y, dy, dx);
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
