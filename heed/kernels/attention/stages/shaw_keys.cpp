#include "heed/kernels/attention/stages/shaw_keys.h"

#include "heed/kernels/attention/stages/relative.h"

namespace heed::kernels {
namespace {

template <typename T>
bool is_backward(const RowBlock<T>& block) {
  return block.d_scaled_queries != nullptr;
}

}  // namespace

template <typename T>
StageNeeds ShawKeys<T>::needs(std::int64_t rows, bool backward) const {
  return relative_needs(table_, rows, backward);
}

template <typename T>
void ShawKeys<T>::begin(const RowBlock<T>& block, StageSpace<T> space) const {
  relative_make(relative_in(table_, space), block, block.queries, block.query_unit);
  if (is_backward(block)) relative_clear(relative_gradient_in(table_, space));
}

template <typename T>
void ShawKeys<T>::forward(const Tile<T>& tile, StageSpace<T> space) const {
  relative_add_to(relative_in(table_, space), tile, space.row);
}

template <typename T>
void ShawKeys<T>::backward(const Tile<T>& gradient, StageSpace<T> space) const {
  relative_sum(relative_gradient_in(table_, space), gradient, space.row);
}

template <typename T>
void ShawKeys<T>::end(const RowBlock<T>& block, StageSpace<T> space) const {
  if (!is_backward(block)) return;
  const Relative<T> dx = relative_gradient_in(table_, space);
  relative_close(dx, block);
  relative_read(dx, block, block.d_scaled_queries);
  if (table_.gradient == nullptr) return;
  relative_add_gradient(
      dx, block, {block.queries, block.query_unit, relative_scratch_in(table_, space), space.sums});
}

template <typename T>
void ShawKeys<T>::finish(const StageSums<T>& sums) const {
  relative_finish(table_, sums);
}

template class ShawKeys<float>;
template class ShawKeys<double>;

}  // namespace heed::kernels
