#include "heed/attention/stages/distance.h"

#include "heed/base/error.h"
#include "heed/kernels/attention/stages/distance_bias.h"

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
