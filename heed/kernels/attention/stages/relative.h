// Functions on a matrix X with one number for each row of a RelativeTable and each query of a
// block: X is computed by a product with the table, added to tiles or summed from them, and
// multiplied with the table again. Used by ShawKeys and ShawValues; in f32 with vectors, in double
// with plain loops.
#pragma once

#include <cstdint>

#include "heed/kernels/attention/stages/relative_table.h"
#include "heed/kernels/attention/tile.h"

namespace heed::kernels {

/// The matrix X of a block. From relative_clear or relative_make until relative_close its order in
/// memory is internal.
template <typename T>
struct Relative {
  const RelativeTable<T>& table;
  T* data;
  std::int64_t stride;  ///< Stride of the block.
};

/// Number of elements of a Relative.
std::int64_t relative_size(std::int64_t clip, std::int64_t stride);
/// Number of elements of the scratch memory that relative_add_gradient needs.
std::int64_t relative_scratch_size(std::int64_t clip, std::int64_t stride);
/// Number of elements of the sums that it adds to.
std::int64_t relative_sums_size(std::int64_t clip, std::int64_t features);

/// The two stages use the memory of a block for X and, in the backward pass, for its gradient and
/// scratch.
template <typename T>
Relative<T> relative_in(const RelativeTable<T>& table, const StageSpace<T>& space) {
  return {table, space.block, space.stride};
}
template <typename T>
Relative<T> relative_gradient_in(const RelativeTable<T>& table, const StageSpace<T>& space) {
  return {table, space.block + relative_size(table.clip, space.stride), space.stride};
}
template <typename T>
T* relative_scratch_in(const RelativeTable<T>& table, const StageSpace<T>& space) {
  return space.block + 2 * relative_size(table.clip, space.stride);
}
template <typename T>
StageNeeds relative_needs(const RelativeTable<T>& table, std::int64_t rows, bool backward) {
  StageNeeds needs;
  needs.block = relative_size(table.clip, rows);
  if (!backward) return needs;
  needs.block = 2 * needs.block + relative_scratch_size(table.clip, rows);
  if (table.gradient != nullptr) needs.sums = relative_sums_size(table.clip, table.features);
  return needs;
}

/// X = 0.
void relative_clear(const Relative<float>& x);
void relative_clear(const Relative<double>& x);

/// X = factor * table * by, where `by` is [features][stride].
void relative_make(const Relative<float>& x, const RowBlock<float>& block, const float* by,
                   float factor);
void relative_make(const Relative<double>& x, const RowBlock<double>& block, const double* by,
                   double factor);

/// tile(key, query) += X[distance, query]; `row` is the block's first query.
void relative_add_to(const Relative<float>& x, const Tile<float>& tile, std::int64_t row);
void relative_add_to(const Relative<double>& x, const Tile<double>& tile, std::int64_t row);

/// X[distance, query] += tile(key, query).
void relative_sum(const Relative<float>& x, const Tile<float>& tile, std::int64_t row);
void relative_sum(const Relative<double>& x, const Tile<double>& tile, std::int64_t row);

/// X[:, query] *= factors[query].
void relative_scale(const Relative<float>& x, const float* factors);
void relative_scale(const Relative<double>& x, const double* factors);

/// Ends the sums; afterwards X can be read.
void relative_close(const Relative<float>& x, const RowBlock<float>& block);
void relative_close(const Relative<double>& x, const RowBlock<double>& block);

/// to += table^T * X, where `to` is [features][stride].
void relative_read(const Relative<float>& x, const RowBlock<float>& block, float* to);
void relative_read(const Relative<double>& x, const RowBlock<double>& block, double* to);

/// The gradient of a table: the sum over queries of factor * X * by.
template <typename T>
struct RelativeGradient {
  const T* by;  ///< [features][stride].
  T factor;
  T* scratch;
  T* sums;
};
void relative_add_gradient(const Relative<float>& x, const RowBlock<float>& block,
                           const RelativeGradient<float>& to);
void relative_add_gradient(const Relative<double>& x, const RowBlock<double>& block,
                           const RelativeGradient<double>& to);

/// Adds the sums of all cells to the table's gradient.
void relative_finish(const RelativeTable<float>& table, const StageSums<float>& sums);
void relative_finish(const RelativeTable<double>& table, const StageSums<double>& sums);

}  // namespace heed::kernels
