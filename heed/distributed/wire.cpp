#include "heed/distributed/wire.h"

#include "heed/tensor/copy.h"

namespace heed {

Tensor as_sent(const Tensor& values, Wire wire) {
  if (wire == Wire::f32) return values;
  return cast_data(cast_data(values, DType::bf16), values.dtype());
}

}  // namespace heed
