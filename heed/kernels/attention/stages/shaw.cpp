#include "heed/kernels/attention/stages/shaw.h"

#include "heed/kernels/attention/stages/relative.h"

namespace heed::kernels {

template <typename T>
StageNeeds ShawStage<T>::needs(std::int64_t rows, bool backward) const {
  return relative_needs(table_, rows, backward);
}

template <typename T>
void ShawStage<T>::finish(const StageSums<T>& sums) const {
  relative_finish(table_, sums);
}

// ---- keys ----

template <typename T>
void ShawKeys<T>::begin(const RowBlock<T>& block, StageSpace<T> space) const {
  relative_make(relative_in(this->table_, space), block, block.queries, block.query_unit);
  if (block.d_scaled_queries != nullptr) relative_clear(relative_gradient_in(this->table_, space));
}

template <typename T>
void ShawKeys<T>::forward(const Tile<T>& tile, StageSpace<T> space) const {
  relative_add_to(relative_in(this->table_, space), tile, space.row);
}

template <typename T>
void ShawKeys<T>::backward(const Tile<T>& gradient, StageSpace<T> space) const {
  relative_sum(relative_gradient_in(this->table_, space), gradient, space.row);
}

template <typename T>
void ShawKeys<T>::end(const RowBlock<T>& block, StageSpace<T> space) const {
  if (block.d_scaled_queries == nullptr) return;  // forward
  const RelativeTable<T>& table = this->table_;
  const Relative<T> dx = relative_gradient_in(table, space);
  relative_close(dx, block);
  relative_read(dx, block, block.d_scaled_queries);
  if (table.gradient == nullptr) return;
  relative_add_gradient(
      dx, block, {block.queries, block.query_unit, relative_scratch_in(table, space), space.sums});
}

// ---- values ----

template <typename T>
void ShawValues<T>::begin(const RowBlock<T>& block, StageSpace<T> space) const {
  relative_clear(relative_in(this->table_, space));
  if (block.d_output != nullptr) {
    relative_make(relative_gradient_in(this->table_, space), block, block.d_output, T{1});
  }
}

template <typename T>
void ShawValues<T>::forward(const Tile<T>& tile, StageSpace<T> space) const {
  relative_sum(relative_in(this->table_, space), tile, space.row);
}

template <typename T>
void ShawValues<T>::backward(const Tile<T>& gradient, StageSpace<T> space) const {
  relative_add_to(relative_gradient_in(this->table_, space), gradient, space.row);
}

template <typename T>
void ShawValues<T>::rescale(const T* factors, StageSpace<T> space) const {
  relative_scale(relative_in(this->table_, space), factors);
}

template <typename T>
void ShawValues<T>::end(const RowBlock<T>& block, StageSpace<T> space) const {
  const RelativeTable<T>& table = this->table_;
  const Relative<T> x = relative_in(table, space);
  if (block.d_output == nullptr) {  // forward
    relative_close(x, block);
    return relative_read(x, block, block.output);
  }
  if (table.gradient == nullptr) return;
  relative_close(x, block);
  relative_add_gradient(x, block,
                        {block.d_output, T{1}, relative_scratch_in(table, space), space.sums});
}

template class ShawKeys<float>;
template class ShawKeys<double>;
template class ShawValues<float>;
template class ShawValues<double>;

}  // namespace heed::kernels
