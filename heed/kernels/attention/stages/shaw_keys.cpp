#include "heed/kernels/attention/stages/shaw_keys.h"

#include "heed/kernels/attention/stages/relative.h"

namespace heed::kernels {
namespace {

// A block's memory: the scores, and in the backward pass their gradient and scratch.
template <typename T>
Relative<T> scores(const RelativeTable<T>& table, const StageSpace<T>& space) {
  return {table, space.block, space.stride};
}
template <typename T>
Relative<T> d_scores(const RelativeTable<T>& table, const StageSpace<T>& space) {
  return {table, space.block + relative_size(table.clip, space.stride), space.stride};
}
template <typename T>
T* scratch(const RelativeTable<T>& table, const StageSpace<T>& space) {
  return space.block + 2 * relative_size(table.clip, space.stride);
}

template <typename T>
bool is_backward(const RowBlock<T>& block) {
  return block.d_scaled_queries != nullptr;
}

}  // namespace

template <typename T>
StageNeeds ShawKeys<T>::needs(std::int64_t rows, bool backward) const {
  StageNeeds needs;
  needs.block = relative_size(table_.clip, rows);
  if (!backward) return needs;
  needs.block = 2 * needs.block + relative_scratch_size(table_.clip, rows);
  if (table_.gradient != nullptr) needs.sums = relative_sums_size(table_.clip, table_.features);
  return needs;
}

template <typename T>
void ShawKeys<T>::begin(const RowBlock<T>& block, StageSpace<T> space) const {
  relative_make(scores(table_, space), block, block.queries, block.query_unit);
  if (is_backward(block)) relative_clear(d_scores(table_, space));
}

template <typename T>
void ShawKeys<T>::forward(const Tile<T>& tile, StageSpace<T> space) const {
  relative_add_to(scores(table_, space), tile, space.row);
}

template <typename T>
void ShawKeys<T>::backward(const Tile<T>& gradient, StageSpace<T> space) const {
  relative_sum(d_scores(table_, space), gradient, space.row);
}

template <typename T>
void ShawKeys<T>::end(const RowBlock<T>& block, StageSpace<T> space) const {
  if (!is_backward(block)) return;
  const Relative<T> dx = d_scores(table_, space);
  relative_close(dx, block);
  relative_read(dx, block, block.d_scaled_queries);
  if (table_.gradient == nullptr) return;
  relative_add_gradient(dx, block,
                        {block.queries, block.query_unit, scratch(table_, space), space.sums});
}

template <typename T>
void ShawKeys<T>::finish(const StageSums<T>& sums) const {
  relative_finish(table_, sums);
}

template class ShawKeys<float>;
template class ShawKeys<double>;

}  // namespace heed::kernels
