#include "heed/kernels/attention/stages/shaw_values.h"

#include "heed/kernels/attention/stages/relative.h"

namespace heed::kernels {
namespace {

template <typename T>
bool is_backward(const RowBlock<T>& block) {
  return block.d_output != nullptr;
}

}  // namespace

template <typename T>
StageNeeds ShawValues<T>::needs(std::int64_t rows, bool backward) const {
  return relative_needs(table_, rows, backward);
}

template <typename T>
void ShawValues<T>::begin(const RowBlock<T>& block, StageSpace<T> space) const {
  relative_clear(relative_in(table_, space));
  if (is_backward(block))
    relative_make(relative_gradient_in(table_, space), block, block.d_output, T{1});
}

template <typename T>
void ShawValues<T>::forward(const Tile<T>& tile, StageSpace<T> space) const {
  relative_sum(relative_in(table_, space), tile, space.row);
}

template <typename T>
void ShawValues<T>::backward(const Tile<T>& gradient, StageSpace<T> space) const {
  relative_add_to(relative_gradient_in(table_, space), gradient, space.row);
}

template <typename T>
void ShawValues<T>::rescale(const T* factors, StageSpace<T> space) const {
  relative_scale(relative_in(table_, space), factors);
}

template <typename T>
void ShawValues<T>::end(const RowBlock<T>& block, StageSpace<T> space) const {
  const Relative<T> x = relative_in(table_, space);
  if (!is_backward(block)) {
    relative_close(x, block);
    return relative_read(x, block, block.output);
  }
  if (table_.gradient == nullptr) return;
  relative_close(x, block);
  relative_add_gradient(x, block,
                        {block.d_output, T{1}, relative_scratch_in(table_, space), space.sums});
}

template <typename T>
void ShawValues<T>::finish(const StageSums<T>& sums) const {
  relative_finish(table_, sums);
}

template class ShawValues<float>;
template class ShawValues<double>;

}  // namespace heed::kernels
