#include "heed/kernels/attention/stages/shaw_values.h"

#include "heed/kernels/attention/stages/relative.h"

namespace heed::kernels {
namespace {

// A block's memory: the weights by distance, and in the backward pass their gradient and scratch.
template <typename T>
Relative<T> weights(const RelativeTable<T>& table, const StageSpace<T>& space) {
  return {table, space.block, space.stride};
}
template <typename T>
Relative<T> d_weights(const RelativeTable<T>& table, const StageSpace<T>& space) {
  return {table, space.block + relative_size(table.clip, space.stride), space.stride};
}
template <typename T>
T* scratch(const RelativeTable<T>& table, const StageSpace<T>& space) {
  return space.block + 2 * relative_size(table.clip, space.stride);
}

template <typename T>
bool is_backward(const RowBlock<T>& block) {
  return block.d_output != nullptr;
}

}  // namespace

template <typename T>
StageNeeds ShawValues<T>::needs(std::int64_t rows, bool backward) const {
  StageNeeds needs;
  needs.block = relative_size(table_.clip, rows);
  if (!backward) return needs;
  needs.block = 2 * needs.block + relative_scratch_size(table_.clip, rows);
  if (table_.gradient != nullptr) needs.sums = relative_sums_size(table_.clip, table_.features);
  return needs;
}

template <typename T>
void ShawValues<T>::begin(const RowBlock<T>& block, StageSpace<T> space) const {
  relative_clear(weights(table_, space));
  if (is_backward(block)) relative_make(d_weights(table_, space), block, block.d_output, T{1});
}

template <typename T>
void ShawValues<T>::forward(const Tile<T>& tile, StageSpace<T> space) const {
  relative_sum(weights(table_, space), tile, space.row);
}

template <typename T>
void ShawValues<T>::backward(const Tile<T>& gradient, StageSpace<T> space) const {
  relative_add_to(d_weights(table_, space), gradient, space.row);
}

template <typename T>
void ShawValues<T>::rescale(const T* factors, StageSpace<T> space) const {
  relative_scale(weights(table_, space), factors);
}

template <typename T>
void ShawValues<T>::end(const RowBlock<T>& block, StageSpace<T> space) const {
  const Relative<T> x = weights(table_, space);
  if (!is_backward(block)) {
    relative_close(x, block);
    return relative_read(x, block, block.output);
  }
  if (table_.gradient == nullptr) return;
  relative_close(x, block);
  relative_add_gradient(x, block, {block.d_output, T{1}, scratch(table_, space), space.sums});
}

template <typename T>
void ShawValues<T>::finish(const StageSums<T>& sums) const {
  relative_finish(table_, sums);
}

template class ShawValues<float>;
template class ShawValues<double>;

}  // namespace heed::kernels
