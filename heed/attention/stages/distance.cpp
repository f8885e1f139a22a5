#include "heed/attention/stages/distance.h"

#include "heed/base/error.h"
#include "heed/kernels/attention/stages/distance_bias.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {

std::int64_t common_shift(const std::string& stage, Corner corner,
                          const kernels::AttentionShape& shape) {
  const std::int64_t shift = corner.shift(shape.Tq, shape.Tk);
  if (shape.q_starts == nullptr || shape.B == 0) return shift;
  const std::int64_t first = corner.shift(shape.queries(0), shape.keys(0));
  for (std::int64_t b = 1; b < shape.B; ++b) {
    HEED_CHECK(corner.shift(shape.queries(b), shape.keys(b)) == first,
               "[attention] {} at the bottom_right corner: sequence {} has {} queries and {} keys, "
               "sequence 0 has {} and {}: the difference must be the same in all packed sequences; "
               "use top_left or an offset",
               stage, b, shape.queries(b), shape.keys(b), shape.queries(0), shape.keys(0));
  }
  return first;
}

Tensor DistanceStage::bias_of_keys(const kernels::AttentionShape& shape, DType dtype) const {
  HEED_ASSERT(shape.Tq == 1);
  const Tensor table = inputs(shape, dtype)[0];  // [H or 1, length]
  Tensor bias = empty({table.size(0), shape.Tk}, dtype);
  visit_float("distance", dtype, [&](auto number) {
    using T = decltype(number);
    for (std::int64_t h = 0; h < table.size(0); ++h) {
      const T* const from = table.data<T>() + h * table.size(1) + zero(shape);
      T* const to = bias.mutable_data<T>() + h * shape.Tk;
      for (std::int64_t j = 0; j < shape.Tk; ++j) to[j] = from[-j];
    }
  });
  return bias;
}

template <typename T>
TileStagePtr<T> DistanceStage::make(const StageBinding& to) const {
  const Tensor& table = to.inputs[0];
  kernels::DistanceTable<T> numbers;
  numbers.values = to.input<T>(0);
  numbers.head_stride = table.size(0) == to.shape.H ? table.size(1) : 0;
  numbers.offset = zero(to.shape);
  numbers.length = table.size(1);
  numbers.gradient = to.gradient<T>(0);
  return std::make_unique<kernels::DistanceBias<T>>(numbers);
}
template TileStagePtr<float> DistanceStage::make(const StageBinding&) const;
template TileStagePtr<double> DistanceStage::make(const StageBinding&) const;

}  // namespace heed
