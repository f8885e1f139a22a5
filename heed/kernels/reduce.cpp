#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/reduce.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include <algorithm>
#include <limits>

#include "heed/base/arena.h"
#include "heed/base/threads.h"
#include "heed/kernels/elementwise-inl.h"
#include "heed/kernels/reduce.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// Each reduction: its initial value, how it combines two vectors, and how it reduces a vector to
// one value.
struct SumOp {
  static constexpr float kStart = 0.0f;
  static VF combine(VF a, VF b) { return hn::Add(a, b); }
  static float across(VF v) { return hn::GetLane(hn::SumOfLanes(F32(), v)); }
};
struct MaxOp {
  static constexpr float kStart = -std::numeric_limits<float>::infinity();
  static VF combine(VF a, VF b) { return MaximumOp::apply(a, b); }
  static float across(VF v);
};
struct MinOp {
  static constexpr float kStart = std::numeric_limits<float>::infinity();
  static VF combine(VF a, VF b) { return MinimumOp::apply(a, b); }
  static float across(VF v);
};

// Lane by lane, because the horizontal maximum of the hardware loses NaN.
template <typename Op>
float across_lanes(VF v) {
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(v, F32(), lanes);
  VF best = hn::Set(F32(), lanes[0]);
  for (std::size_t i = 1; i < hn::Lanes(F32()); ++i) {
    best = Op::combine(best, hn::Set(F32(), lanes[i]));
  }
  return hn::GetLane(best);
}
float MaxOp::across(VF v) { return across_lanes<MaxOp>(v); }
float MinOp::across(VF v) { return across_lanes<MinOp>(v); }

template <typename Op>
void reduce_row(const float* x, std::int64_t n, float* y) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const VF start = hn::Set(d, Op::kStart);
  VF sums[4] = {start, start, start, start};
  std::int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    for (int k = 0; k < 4; ++k) sums[k] = Op::combine(sums[k], hn::LoadU(d, x + i + k * lanes));
  }
  for (; i + lanes <= n; i += lanes) sums[0] = Op::combine(sums[0], hn::LoadU(d, x + i));
  if (i < n) {
    const auto rest = static_cast<std::size_t>(n - i);
    sums[1] =
        Op::combine(sums[1], hn::IfThenElse(hn::FirstN(d, rest), LoadFirst(d, x + i, rest), start));
  }
  *y = Op::across(Op::combine(Op::combine(sums[0], sums[1]), Op::combine(sums[2], sums[3])));
}

// Reduces rows of `width` <= 4 vectors, `stride` apart, downwards in registers.
template <typename Op>
void reduce_columns(const float* x, std::int64_t n, std::int64_t stride, std::int64_t width,
                    float* y) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const VF start = hn::Set(d, Op::kStart);
  std::int64_t c = 0;
  for (; c + 4 * lanes <= width; c += 4 * lanes) {
    VF sums[4] = {start, start, start, start};
    for (std::int64_t r = 0; r < n; ++r) {
      for (int k = 0; k < 4; ++k) {
        sums[k] = Op::combine(sums[k], hn::LoadU(d, x + r * stride + c + k * lanes));
      }
    }
    for (int k = 0; k < 4; ++k) hn::StoreU(sums[k], d, y + c + k * lanes);
  }
  for (; c + lanes <= width; c += lanes) {
    VF sum = start;
    for (std::int64_t r = 0; r < n; ++r) sum = Op::combine(sum, hn::LoadU(d, x + r * stride + c));
    hn::StoreU(sum, d, y + c);
  }
  if (c < width) {
    const auto rest = static_cast<std::size_t>(width - c);
    VF sum = start;
    for (std::int64_t r = 0; r < n; ++r) {
      sum = Op::combine(sum, LoadFirst(d, x + r * stride + c, rest));
    }
    StoreFirst(sum, d, y + c, rest);
  }
}

// One cell of the grid: rows [0, n) of a block of columns.
void reduce_cell(Reduce op, const float* x, ReduceShape cell, std::int64_t stride, float* y) {
  const auto with = [&](auto tag) {
    using Op = decltype(tag);
    if (stride == 1) {
      reduce_row<Op>(x, cell.n, y);
    } else {
      reduce_columns<Op>(x, cell.n, stride, cell.inner, y);
    }
  };
  switch (op) {
    case Reduce::sum:
      return with(SumOp{});
    case Reduce::maximum:
      return with(MaxOp{});
    case Reduce::minimum:
      return with(MinOp{});
  }
}

double square_sum_chunk(const float* x, std::int64_t n) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  VF sums[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  std::int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    for (int k = 0; k < 4; ++k) {
      const VF v = hn::LoadU(d, x + i + k * lanes);
      sums[k] = hn::MulAdd(v, v, sums[k]);
    }
  }
  for (; i + lanes <= n; i += lanes) {
    const VF v = hn::LoadU(d, x + i);
    sums[0] = hn::MulAdd(v, v, sums[0]);
  }
  if (i < n) {
    const VF v = LoadFirst(d, x + i, static_cast<std::size_t>(n - i));
    sums[1] = hn::MulAdd(v, v, sums[1]);
  }
  return hn::GetLane(
      hn::SumOfLanes(d, hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]))));
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {

HWY_EXPORT(reduce_cell);
HWY_EXPORT(square_sum_chunk);

// The plain twin of a cell.
void reduce_cell_double(Reduce op, const double* x, ReduceShape cell, std::int64_t stride,
                        double* y) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (std::int64_t c = 0; c < cell.inner; ++c) {
    double total = op == Reduce::sum ? 0.0 : op == Reduce::maximum ? -kInfinity : kInfinity;
    for (std::int64_t r = 0; r < cell.n; ++r) {
      const double v = x[r * stride + c];
      const bool better = op == Reduce::maximum ? v > total : v < total;
      total = op == Reduce::sum ? total + v : better || std::isnan(v) ? v : total;
    }
    y[c] = total;
  }
}

constexpr std::int64_t kColumns = 256;  // columns per cell
constexpr std::int64_t kCellElements = 1 << 14;

template <typename T, typename Cell>
void reduce_chunked(Reduce op, ReduceShape s, const T* x, T* y, const Cell& cell) {
  if (s.outer == 0 || s.inner == 0) return;
  const std::int64_t width = std::min(s.inner, kColumns);
  const std::int64_t chunk = std::max<std::int64_t>(kCellElements / width, 64);
  const std::int64_t chunks = std::max<std::int64_t>(1, (s.n + chunk - 1) / chunk);
  const std::int64_t blocks = (s.inner + width - 1) / width;
  const Scratch<T> partial(chunks > 1 ? s.outer * chunks * s.inner : 0);
  T* const out = chunks > 1 ? partial.data() : y;
  // Short rows are grouped, so that a cell is worth a thread's time.
  const std::int64_t jobs = s.outer * chunks * blocks;
  const std::int64_t job_cost = std::min(s.n, chunk) * width + 8;
  const std::int64_t per_cell = std::max<std::int64_t>(1, kCellElements / job_cost);
  parallel_for((jobs + per_cell - 1) / per_cell, per_cell * job_cost, [&](std::int64_t c) {
    for (std::int64_t j = c * per_cell; j < std::min(jobs, (c + 1) * per_cell); ++j) {
      const std::int64_t column = j % blocks * width;
      const std::int64_t row = j / blocks % chunks * chunk;
      const std::int64_t o = j / blocks / chunks;
      const ReduceShape part{1, std::min(chunk, s.n - row), std::min(width, s.inner - column)};
      cell(op, x + (o * s.n + row) * s.inner + column, part, s.inner,
           out + (o * chunks + row / chunk) * s.inner + column);
    }
  });
  if (chunks > 1) reduce_chunked(op, {s.outer, chunks, s.inner}, partial.data(), y, cell);
}

}  // namespace

void reduce(Reduce op, ReduceShape shape, const float* x, float* y) {
  reduce_chunked(op, shape, x, y, HEED_DISPATCH(reduce_cell));
}

void reduce(Reduce op, ReduceShape shape, const double* x, double* y) {
  reduce_chunked(op, shape, x, y, reduce_cell_double);
}

double sum_of_squares(const float* x, std::int64_t n) {
  const auto chunk_sum = HEED_DISPATCH(square_sum_chunk);
  // Float sums of 4096 elements are short enough; they are added in double.
  constexpr std::int64_t kChunk = 4096;
  const std::int64_t chunks = (n + kChunk - 1) / kChunk;
  const Scratch<double> partial(chunks);
  parallel_for(chunks, kChunk, [&](std::int64_t c) {
    partial[c] = chunk_sum(x + c * kChunk, std::min(kChunk, n - c * kChunk));
  });
  double total = 0.0;
  for (std::int64_t c = 0; c < chunks; ++c) total += partial[c];
  return total;
}

double sum_of_squares(const double* x, std::int64_t n) {
  double total = 0.0;
  for (std::int64_t i = 0; i < n; ++i) total += x[i] * x[i];
  return total;
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
