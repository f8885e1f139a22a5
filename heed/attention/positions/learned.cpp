#include "heed/attention/positions/learned.h"

#include "heed/nn/init.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"

namespace heed {

Learned::Learned(const PositionConfig& config, const PositionSizes& sizes, Generator& generator)
    : AddedCode("learned", sizes.embed, config.max_length),
      weight(empty({config.max_length, sizes.embed})) {
  init::normal(weight, 0.02, generator);
  weight.requires_grad();
}

Tensor Learned::codes(std::int64_t first, std::int64_t count, DType) const {
  return slice(weight, 0, first, first + count);  // [count, E]
}

}  // namespace heed
