#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/elementwise.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include "heed/kernels/elementwise-inl.h"
#include "heed/kernels/elementwise.h"
#include "heed/kernels/reference/elementwise.h"
#include "heed/kernels/staging-inl.h"
#include "heed/kernels/stream.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

using detail::Steps;

template <typename Op>
void unary_run(const float* x, float* y, Steps s, std::int64_t n) {
  map_run([](VF v) HWY_ATTR { return Op::apply(v); }, n, y, s.y, x, s.a, s.stream);
}

template <typename Op>
void unary_backward_run(const float* saved, const float* dy, float* dx, Steps s, std::int64_t n) {
  map_run([](VF v, VF g) HWY_ATTR { return hn::Mul(g, Op::slope(v)); }, n, dx, s.y, saved, s.a, dy,
          s.b, s.stream);
}

template <typename Op>
void binary_run(const float* a, const float* b, float* y, Steps s, std::int64_t n) {
  map_run([](VF u, VF v) HWY_ATTR { return Op::apply(u, v); }, n, y, s.y, a, s.a, b, s.b, s.stream);
}

using UnaryRun = void (*)(const float*, float*, Steps, std::int64_t);
using BinaryRun = void (*)(const float*, const float*, float*, Steps, std::int64_t);

UnaryRun unary_of(Unary op) {
  switch (op) {
#define HEED_X(name, functor, saves) \
  case Unary::name:                  \
    return unary_run<functor>;
    HEED_UNARY_OPS(HEED_X)
#undef HEED_X
  }
  __builtin_unreachable();
}

BinaryRun unary_backward_of(Unary op) {
  switch (op) {
#define HEED_X(name, functor, saves) \
  case Unary::name:                  \
    return unary_backward_run<functor>;
    HEED_UNARY_OPS(HEED_X)
#undef HEED_X
  }
  __builtin_unreachable();
}

BinaryRun binary_of(Binary op) {
  switch (op) {
#define HEED_X(name, functor) \
  case Binary::name:          \
    return binary_run<functor>;
    HEED_BINARY_OPS(HEED_X)
#undef HEED_X
  }
  __builtin_unreachable();
}

void affine_run(const float* x, float scale, float shift, float* y, Steps s, std::int64_t n) {
  const VF k = splat(scale);
  const VF c = splat(shift);
  map_run([k, c](VF v) HWY_ATTR { return hn::MulAdd(v, k, c); }, n, y, s.y, x, s.a, s.stream);
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(unary_of);
HWY_EXPORT(unary_backward_of);
HWY_EXPORT(binary_of);
HWY_EXPORT(affine_run);

namespace {
// Rough costs for the thread pool's serial cut-off: a transcendental function costs about ten
// additions.
constexpr std::int64_t kCheap = 1;
constexpr std::int64_t kDear = 8;

// Cells start at multiples of 16384 elements of a contiguous result, so all are aligned if the
// first one is.
template <int N>
bool streams(const Nest<N>& nest, const float* y) {
  return nest.rank == 1 &&
         worth_streaming(y, nest.count() * static_cast<std::int64_t>(sizeof(float)));
}

template <int N>
std::int64_t step(const Nest<N>& nest, std::size_t operand) {
  return nest.strides[operand][static_cast<std::size_t>(nest.rank - 1)];
}
}  // namespace

bool slope_from_output(Unary op) {
  enum Saves { input, output };
  switch (op) {
#define HEED_X(name, functor, saves) \
  case Unary::name:                  \
    return saves == output;
    HEED_UNARY_OPS(HEED_X)
#undef HEED_X
  }
  __builtin_unreachable();
}

void unary(Unary op, const Nest<2>& nest, const float* x, float* y) {
  const auto run_of = HEED_DISPATCH(unary_of)(op);
  const bool stream = streams(nest, y) && x != y;
  for_each_run(nest, kDear, [&](const Run<2>& run) {
    run_of(x + run.at[0], y + run.at[1], {step(nest, 0), 0, step(nest, 1), stream}, run.length);
  });
}

void unary(Unary op, const Nest<2>& nest, const double* x, double* y) {
  for_each_run(nest, kDear, [&](const Run<2>& run) {
    for (std::int64_t i = 0; i < run.length; ++i) {
      y[run.at[1] + i * step(nest, 1)] = reference::unary(op, x[run.at[0] + i * step(nest, 0)]);
    }
  });
}

void unary_backward(Unary op, const Nest<3>& nest, const float* saved, const float* dy, float* dx) {
  const auto run_of = HEED_DISPATCH(unary_backward_of)(op);
  const bool stream = streams(nest, dx) && saved != dx && dy != dx;
  for_each_run(nest, kDear, [&](const Run<3>& run) {
    run_of(saved + run.at[0], dy + run.at[1], dx + run.at[2],
           {step(nest, 0), step(nest, 1), step(nest, 2), stream}, run.length);
  });
}

void unary_backward(Unary op, const Nest<3>& nest, const double* saved, const double* dy,
                    double* dx) {
  for_each_run(nest, kDear, [&](const Run<3>& run) {
    for (std::int64_t i = 0; i < run.length; ++i) {
      dx[run.at[2] + i * step(nest, 2)] =
          dy[run.at[1] + i * step(nest, 1)] *
          reference::slope(op, saved[run.at[0] + i * step(nest, 0)]);
    }
  });
}

void binary(Binary op, const Nest<3>& nest, const float* a, const float* b, float* y) {
  const auto run_of = HEED_DISPATCH(binary_of)(op);
  const bool stream = streams(nest, y) && a != y && b != y;
  for_each_run(nest, kCheap, [&](const Run<3>& run) {
    run_of(a + run.at[0], b + run.at[1], y + run.at[2],
           {step(nest, 0), step(nest, 1), step(nest, 2), stream}, run.length);
  });
}

void binary(Binary op, const Nest<3>& nest, const double* a, const double* b, double* y) {
  for_each_run(nest, kCheap, [&](const Run<3>& run) {
    for (std::int64_t i = 0; i < run.length; ++i) {
      y[run.at[2] + i * step(nest, 2)] =
          reference::binary(op, a[run.at[0] + i * step(nest, 0)], b[run.at[1] + i * step(nest, 1)]);
    }
  });
}

void affine(const Nest<2>& nest, const float* x, double scale, double shift, float* y) {
  const auto run_of = HEED_DISPATCH(affine_run);
  const bool stream = streams(nest, y) && x != y;
  for_each_run(nest, kCheap, [&](const Run<2>& run) {
    run_of(x + run.at[0], static_cast<float>(scale), static_cast<float>(shift), y + run.at[1],
           {step(nest, 0), 0, step(nest, 1), stream}, run.length);
  });
}

void affine(const Nest<2>& nest, const double* x, double scale, double shift, double* y) {
  for_each_run(nest, kCheap, [&](const Run<2>& run) {
    for (std::int64_t i = 0; i < run.length; ++i) {
      y[run.at[1] + i * step(nest, 1)] = x[run.at[0] + i * step(nest, 0)] * scale + shift;
    }
  });
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
