// Work with one number X[distance, query] for each row of a RelativeTable and each query of a
// block: made by a product with the table, added to tiles or summed from them, and multiplied with
// the table again. What ShawKeys and ShawValues share; in f32 by vectors, in double plainly.
#pragma once

#include <cstdint>

#include "heed/kernels/attention/stages/relative_table.h"
#include "heed/kernels/attention/tile.h"

namespace heed::kernels {

/// The numbers of a block. They are kept in an order of the implementation's own from
/// relative_clear or relative_make on, until relative_close.
template <typename T>
struct Relative {
  const RelativeTable<T>& table;
  T* data;
  std::int64_t stride;  ///< Of the block.
};

/// Elements of a Relative.
std::int64_t relative_size(std::int64_t clip, std::int64_t stride);
/// Elements of the scratch memory that relative_add_gradient wants.
std::int64_t relative_scratch_size(std::int64_t clip, std::int64_t stride);
/// Elements of the sums that it adds to.
std::int64_t relative_sums_size(std::int64_t clip, std::int64_t features);

/// How the two stages use a block's memory: X, and in the backward pass its gradient and scratch.
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

/// Ends the sums: what follows may read X.
void relative_close(const Relative<float>& x, const RowBlock<float>& block);
void relative_close(const Relative<double>& x, const RowBlock<double>& block);

/// to += table^T * X, where `to` is [features][stride].
void relative_read(const Relative<float>& x, const RowBlock<float>& block, float* to);
void relative_read(const Relative<double>& x, const RowBlock<double>& block, double* to);

/// The gradient of a table: by the sum over queries of factor * X * by.
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
