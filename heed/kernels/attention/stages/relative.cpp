#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention/stages/relative.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include <algorithm>

#include "heed/base/arena.h"
#include "heed/kernels/attention/stages/add_up.h"
#include "heed/kernels/attention/stages/relative-inl.h"
#include "heed/kernels/attention/stages/relative.h"
#include "heed/kernels/attention/visible_products-inl.h"
#include "heed/kernels/attention/weights-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

Skewed skewed(const Relative<float>& x) { return {x.data, x.stride, x.table.clip}; }

std::int64_t vectors(const RowBlock<float>& block) { return (block.rows + kLanes - 1) / kLanes; }

void clear(const Relative<float>& x) { std::fill_n(x.data, skewed(x).rows() * x.stride, 0.0f); }

void make(const Relative<float>& x, const RowBlock<float>& block, const float* by, float factor) {
  const Skewed to = skewed(x);
  const AlongRows table{x.table.of_head(block.head), x.table.features};
  product(x.table.rows(), vectors(block), x.table.features, table, by, x.stride,
          Put{to.plain(), x.stride});
  if (factor != 1.0f) {
    for (std::int64_t i = 0; i < x.table.rows() * x.stride; ++i) to.plain()[i] *= factor;
  }
  skew(to, vectors(block));
}

void add_to(const Relative<float>& x, const Tile<float>& tile, std::int64_t row) {
  add_skewed(skewed(x).from(tile.row - row), tile, x.table.distance(tile));
}

void sum(const Relative<float>& x, const Tile<float>& tile, std::int64_t row) {
  sum_skewed(skewed(x).from(tile.row - row), tile, x.table.distance(tile));
}

void scale(const Relative<float>& x, const float* factors) {
  const F32 d;
  for (std::int64_t i = 0; i < skewed(x).rows(); ++i) {
    for (std::int64_t r = 0; r < x.stride; r += kLanes) {
      float* const p = x.data + i * x.stride + r;
      hn::Store(hn::Mul(hn::Load(d, p), hn::Load(d, factors + r)), d, p);
    }
  }
}

void close(const Relative<float>& x, const RowBlock<float>& block) {
  unskew(skewed(x), vectors(block));
}

void read(const Relative<float>& x, const RowBlock<float>& block, float* to) {
  const AcrossRows table{x.table.of_head(block.head), x.table.features};
  product(x.table.features, vectors(block), x.table.rows(), table, skewed(x).plain(), x.stride,
          AddTo{to, x.stride});
}

// A query without visible keys may contain NaN: its sums are 0 and it must contribute nothing.
HWY_NOINLINE void add_gradient_of_visible(const Relative<float>& x, const RowBlock<float>& block,
                                          const RelativeGradient<float>& to, std::int64_t width) {
  for (std::int64_t f = 0; f < x.table.features; ++f) {
    for (std::int64_t r = 0; r < block.rows; ++r) {
      for (std::int64_t i = 0; i < x.table.rows(); ++i) {
        const float number = to.scratch[r * width + i];
        if (number != 0.0f) to.sums[f * width + i] += number * to.by[f * x.stride + r];
      }
    }
  }
}

// sums[feature][distance] += by(feature, query) * X^T[query][distance]. The padding of queries is
// not part of the product.
void add_gradient(const Relative<float>& x, const RowBlock<float>& block,
                  const RelativeGradient<float>& to) {
  const std::int64_t width = relative_scratch_size(x.table.clip, 1);
  pack_transposed({skewed(x).plain(), x.stride}, x.table.rows(), block.rows, {to.scratch, width},
                  to.factor);
  if (!all_finite({to.by, x.stride}, x.table.features, block.rows)) {
    return add_gradient_of_visible(x, block, to, width);
  }
  product(x.table.features, (x.table.rows() + kLanes - 1) / kLanes, block.rows,
          AlongRows{to.by, x.stride}, to.scratch, width, AddToAnywhere{to.sums, width});
}

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {

HWY_EXPORT(clear);
HWY_EXPORT(make);
HWY_EXPORT(add_to);
HWY_EXPORT(sum);
HWY_EXPORT(scale);
HWY_EXPORT(close);
HWY_EXPORT(read);
HWY_EXPORT(add_gradient);

// Lanes of the widest vectors of any instruction set.
constexpr std::int64_t kMaxLanes = 16;

// The index of X[distance, query] for a key and a query of a tile; in double, X is a plain matrix.
double& number(const Relative<double>& x, const Tile<double>& tile, std::int64_t c, std::int64_t r,
               std::int64_t row) {
  const std::int64_t distance = x.table.row(x.table.distance(tile) + c - r);
  return x.data[distance * x.stride + tile.row - row + r];
}

template <typename T>
void finish(const RelativeTable<T>& table, const StageSums<T>& sums) {
  if (table.gradient == nullptr) return;
  const std::int64_t size = relative_sums_size(table.clip, table.features);
  const std::int64_t width = size / table.features;
  const Scratch<T> total(sums.heads * size);
  std::fill_n(total.data(), total.size(), T(0));
  add_up(sums, size,
         [&](std::int64_t, std::int64_t h, std::int64_t i) -> T& { return total[h * size + i]; });
  for (std::int64_t h = 0; h < sums.heads; ++h) {
    const T* const from = total.data() + h * size;
    T* const to = table.gradient + h * table.head_stride;
    for (std::int64_t f = 0; f < table.features; ++f) {
      for (std::int64_t r = 0; r < table.rows(); ++r) {
        to[r * table.features + f] += from[f * width + r];
      }
    }
  }
}

}  // namespace

std::int64_t relative_size(std::int64_t clip, std::int64_t stride) {
  return (2 * (clip + kMaxLanes - 1) + 1) * stride;
}
std::int64_t relative_scratch_size(std::int64_t clip, std::int64_t stride) {
  return (2 * clip + kMaxLanes) / kMaxLanes * kMaxLanes * stride;
}
std::int64_t relative_sums_size(std::int64_t clip, std::int64_t features) {
  return relative_scratch_size(clip, features);
}

void relative_clear(const Relative<float>& x) { HEED_DISPATCH(clear)(x); }
void relative_clear(const Relative<double>& x) {
  std::fill_n(x.data, x.table.rows() * x.stride, 0.0);
}

void relative_make(const Relative<float>& x, const RowBlock<float>& block, const float* by,
                   float factor) {
  HEED_DISPATCH(make)(x, block, by, factor);
}
void relative_make(const Relative<double>& x, const RowBlock<double>& block, const double* by,
                   double factor) {
  relative_clear(x);
  const double* const table = x.table.of_head(block.head);
  for (std::int64_t i = 0; i < x.table.rows(); ++i) {
    for (std::int64_t f = 0; f < x.table.features; ++f) {
      for (std::int64_t r = 0; r < block.rows; ++r) {
        x.data[i * x.stride + r] += factor * table[i * x.table.features + f] * by[f * x.stride + r];
      }
    }
  }
}

void relative_add_to(const Relative<float>& x, const Tile<float>& tile, std::int64_t row) {
  HEED_DISPATCH(add_to)(x, tile, row);
}
void relative_add_to(const Relative<double>& x, const Tile<double>& tile, std::int64_t row) {
  for (std::int64_t c = 0; c < tile.cols; ++c) {
    for (std::int64_t r = 0; r < tile.rows; ++r) tile.at(c, r) += number(x, tile, c, r, row);
  }
}

void relative_sum(const Relative<float>& x, const Tile<float>& tile, std::int64_t row) {
  HEED_DISPATCH(sum)(x, tile, row);
}
void relative_sum(const Relative<double>& x, const Tile<double>& tile, std::int64_t row) {
  for (std::int64_t c = 0; c < tile.cols; ++c) {
    for (std::int64_t r = 0; r < tile.rows; ++r) number(x, tile, c, r, row) += tile.at(c, r);
  }
}

void relative_scale(const Relative<float>& x, const float* factors) {
  HEED_DISPATCH(scale)(x, factors);
}
void relative_scale(const Relative<double>& x, const double* factors) {
  for (std::int64_t i = 0; i < x.table.rows() * x.stride; ++i) x.data[i] *= factors[i % x.stride];
}

void relative_close(const Relative<float>& x, const RowBlock<float>& block) {
  HEED_DISPATCH(close)(x, block);
}
void relative_close(const Relative<double>& /*x*/, const RowBlock<double>& /*block*/) {}

void relative_read(const Relative<float>& x, const RowBlock<float>& block, float* to) {
  HEED_DISPATCH(read)(x, block, to);
}
void relative_read(const Relative<double>& x, const RowBlock<double>& block, double* to) {
  const double* const table = x.table.of_head(block.head);
  for (std::int64_t i = 0; i < x.table.rows(); ++i) {
    for (std::int64_t f = 0; f < x.table.features; ++f) {
      for (std::int64_t r = 0; r < block.rows; ++r) {
        to[f * x.stride + r] += table[i * x.table.features + f] * x.data[i * x.stride + r];
      }
    }
  }
}

void relative_add_gradient(const Relative<float>& x, const RowBlock<float>& block,
                           const RelativeGradient<float>& to) {
  HEED_DISPATCH(add_gradient)(x, block, to);
}
void relative_add_gradient(const Relative<double>& x, const RowBlock<double>& block,
                           const RelativeGradient<double>& to) {
  const std::int64_t width = relative_scratch_size(x.table.clip, 1);
  for (std::int64_t f = 0; f < x.table.features; ++f) {
    for (std::int64_t i = 0; i < x.table.rows(); ++i) {
      for (std::int64_t r = 0; r < block.rows; ++r) {
        const double number = to.factor * x.data[i * x.stride + r];
        if (number != 0.0) to.sums[f * width + i] += number * to.by[f * x.stride + r];
      }
    }
  }
}

void relative_finish(const RelativeTable<float>& table, const StageSums<float>& sums) {
  finish(table, sums);
}
void relative_finish(const RelativeTable<double>& table, const StageSums<double>& sums) {
  finish(table, sums);
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
