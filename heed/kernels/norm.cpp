#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/norm.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include <hwy/cache_control.h>

#include <cmath>

#include "heed/base/arena.h"
#include "heed/kernels/norm.h"
#include "heed/kernels/reduce.h"
#include "heed/kernels/reference/norm.h"
#include "heed/kernels/rows-inl.h"
#include "heed/kernels/stream.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

// If the row size is a multiple of 64 bytes, all rows are aligned if the first one is.
bool rows_stream(Rows rows, const float* y) {
  const auto bytes = static_cast<std::int64_t>(sizeof(float));
  return rows.width * bytes % 64 == 0 && worth_streaming(y, rows.count * rows.width * bytes);
}

// Writes x + residual and returns its total.
float add_residual(std::int64_t n, const float* x, const float* residual, float* sum) {
  return sum_row(n, [=](auto part, std::int64_t i, VF total) HWY_ATTR {
    const VF s = hn::Add(part.load(x + i), part.load(residual + i));
    part.store(s, sum + i);
    return hn::Add(total, s);
  });
}

float total_of(std::int64_t n, const float* x) {
  return sum_row(n, [=](auto part, std::int64_t i, VF total)
                        HWY_ATTR { return hn::Add(total, part.load(x + i)); });
}

float squares_about(std::int64_t n, const float* x, float centre) {
  const VF mean = hn::Set(F32(), centre);
  return sum_row(n, [=](auto part, std::int64_t i, VF total) HWY_ATTR {
    const VF v = hn::Sub(part.load(x + i), mean);
    return part.keep(hn::MulAdd(v, v, total), total);
  });
}

void norm_rows(Norm kind, const NormForward<float>& c, std::int64_t first, std::int64_t count) {
  const std::int64_t n = c.rows.width;
  const float* const weight = c.weight;
  const float* const bias = c.bias;
  const bool stream = c.y != c.x && rows_stream(c.rows, c.y);
  for (std::int64_t r = first; r < first + count; ++r) {
    const float* s = c.x + r * n;
    float total = 0.0f;
    if (c.residual != nullptr) {
      total = add_residual(n, s, c.residual + r * n, c.sum + r * n);
      s = c.sum + r * n;
    } else if (kind == Norm::layer) {
      total = total_of(n, s);
    }
    const auto width = static_cast<float>(n);
    const float mean = kind == Norm::layer ? total / width : 0.0f;
    const float variance = squares_about(n, s, mean) / width;
    const float rstd = 1.0f / std::sqrt(variance + static_cast<float>(c.eps));
    float* const y = c.y + r * n;
    const VF centre = hn::Set(F32(), mean);
    const VF scale = hn::Set(F32(), rstd);
    const auto write = [=](auto part, std::int64_t i) HWY_ATTR {
      const VF normal = hn::Mul(hn::Sub(part.load(s + i), centre), scale);
      part.store(hn::MulAdd(normal, part.load(weight + i), part.load(bias + i)), y + i);
    };
    if (stream) {
      map_row<Streamed>(n, write);
    } else {
      map_row(n, write);
    }
    c.mean[r] = mean;
    c.rstd[r] = rstd;
  }
  if (stream) hwy::FlushStream();
}

// One row of the backward pass.
struct GradientRow {
  std::int64_t n;
  VF mean, rstd;
  const float *input, *weight, *dy;
  float *dx, *dweight, *dbias;
};

struct GradientTotals {
  VF g, gn;
};

// The totals of g and g n; in the same pass, dweight += dy n and dbias += dy.
template <bool kParameters>
GradientTotals gradient_totals(const GradientRow& row) {
  const auto body = [row](auto part, std::int64_t i, GradientTotals t) HWY_ATTR {
    const VF dy = part.load(row.dy + i);
    const VF normal = hn::Mul(hn::Sub(part.load(row.input + i), row.mean), row.rstd);
    if constexpr (kParameters) {
      part.store(hn::MulAdd(dy, normal, part.load(row.dweight + i)), row.dweight + i);
      part.store(hn::Add(dy, part.load(row.dbias + i)), row.dbias + i);
    }
    const VF g = hn::Mul(dy, part.load(row.weight + i));
    return GradientTotals{hn::Add(t.g, g), hn::MulAdd(g, normal, t.gn)};
  };
  const VF zero = hn::Zero(F32());
  return fold_row(row.n, GradientTotals{zero, zero}, body,
                  [](GradientTotals a, GradientTotals b) HWY_ATTR {
                    return GradientTotals{hn::Add(a.g, b.g), hn::Add(a.gn, b.gn)};
                  });
}

template <bool kPlus, typename Vector>
void write_gradient(const GradientRow& row, VF mean_g, VF mean_gn, const float* dsum) {
  map_row<Vector>(row.n, [=](auto part, std::int64_t i) HWY_ATTR {
    const VF g = hn::Mul(part.load(row.dy + i), part.load(row.weight + i));
    const VF normal = hn::Mul(hn::Sub(part.load(row.input + i), row.mean), row.rstd);
    const VF centred = hn::NegMulAdd(normal, mean_gn, hn::Sub(g, mean_g));
    if constexpr (kPlus) {
      part.store(hn::MulAdd(centred, row.rstd, part.load(dsum + i)), row.dx + i);
    } else {
      part.store(hn::Mul(centred, row.rstd), row.dx + i);
    }
  });
}

// Adds to dweight and dbias if they are not null.
void norm_backward_rows(Norm kind, const NormBackward<float>& c, std::int64_t first,
                        std::int64_t count) {
  const F32 d;
  const std::int64_t n = c.rows.width;
  const float share = 1.0f / static_cast<float>(n);
  const bool stream = c.dx != c.dy && c.dx != c.input && rows_stream(c.rows, c.dx);
  for (std::int64_t r = first; r < first + count; ++r) {
    const std::int64_t at = r * n;
    const GradientRow row{n,
                          hn::Set(d, c.mean[r]),
                          hn::Set(d, c.rstd[r]),
                          c.input + at,
                          c.weight,
                          c.dy + at,
                          c.dx + at,
                          c.dweight,
                          c.dbias};
    const GradientTotals totals =
        c.dweight != nullptr ? gradient_totals<true>(row) : gradient_totals<false>(row);
    const float mean_g = hn::GetLane(hn::SumOfLanes(d, totals.g)) * share;
    const VF about = hn::Set(d, kind == Norm::layer ? mean_g : 0.0f);
    const VF along = hn::Mul(hn::SumOfLanes(d, totals.gn), hn::Set(d, share));
    if (c.dsum != nullptr) {
      write_gradient<true, Whole>(row, about, along, c.dsum + at);
    } else if (stream) {
      write_gradient<false, Streamed>(row, about, along, nullptr);
    } else {
      write_gradient<false, Whole>(row, about, along, nullptr);
    }
  }
  if (stream) hwy::FlushStream();
}

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {

HWY_EXPORT(norm_rows);
HWY_EXPORT(norm_backward_rows);

constexpr std::int64_t kCost = 4;  // operations per element, roughly

// A row of one value that replaces a missing parameter, so that the loops need no branches.
template <typename T>
class Parameter {
 public:
  Parameter(const T* given, std::int64_t width, T value)
      : fill_(given == nullptr ? width : 0), data_(given == nullptr ? fill_.data() : given) {
    std::fill_n(fill_.data(), fill_.size(), value);
  }
  const T* data() const { return data_; }

 private:
  Scratch<T> fill_;
  const T* data_;
};

template <typename T, typename Chunk>
void forward(Norm kind, NormForward<T> call, const Chunk& chunk) {
  const Parameter<T> weight(call.weight, call.rows.width, T{1});
  const Parameter<T> bias(call.bias, call.rows.width, T{0});
  call.weight = weight.data();
  call.bias = bias.data();
  for_each_rows(call.rows, rows_per_cell(call.rows), kCost,
                [&](std::int64_t first, std::int64_t count) { chunk(kind, call, first, count); });
}

// The gradients of weight and bias are sums over rows. Each chunk of rows has its own partial sums,
// which are added in the order of the chunks, whichever thread computed them.
template <typename T, typename Chunk>
void backward(Norm kind, NormBackward<T> call, const Chunk& chunk) {
  constexpr std::int64_t kLeastRows = 16;  // so that partial sums cause little memory traffic
  const std::int64_t width = call.rows.width;
  const bool parameters = call.dweight != nullptr || call.dbias != nullptr;
  const std::int64_t step =
      std::max(rows_per_cell(call.rows), parameters ? kLeastRows : std::int64_t{1});
  const std::int64_t chunks = parameters ? (call.rows.count + step - 1) / step : 0;
  const Scratch<T> dweight(chunks * width);
  const Scratch<T> dbias(chunks * width);
  const Parameter<T> weight(call.weight, width, T{1});
  call.weight = weight.data();
  for_each_rows(call.rows, step, kCost, [&](std::int64_t first, std::int64_t count) {
    NormBackward<T> part = call;
    if (parameters) {
      part.dweight = std::fill_n(dweight.data() + first / step * width, width, T{0}) - width;
      part.dbias = std::fill_n(dbias.data() + first / step * width, width, T{0}) - width;
    }
    chunk(kind, part, first, count);
  });
  const ReduceShape over_chunks{1, chunks, width};
  if (call.dweight != nullptr) reduce(Reduce::sum, over_chunks, dweight.data(), call.dweight);
  if (call.dbias != nullptr) reduce(Reduce::sum, over_chunks, dbias.data(), call.dbias);
}

}  // namespace

void norm(Norm kind, const NormForward<float>& call) {
  forward(kind, call, HEED_DISPATCH(norm_rows));
}
void norm(Norm kind, const NormForward<double>& call) { forward(kind, call, reference::norm_rows); }

void norm_backward(Norm kind, const NormBackward<float>& call) {
  backward(kind, call, HEED_DISPATCH(norm_backward_rows));
}
void norm_backward(Norm kind, const NormBackward<double>& call) {
  backward(kind, call, reference::norm_backward_rows);
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
