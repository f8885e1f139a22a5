#include "heed/attention/positions/learned.h"

#include "heed/base/error.h"
#include "heed/nn/init.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"

namespace heed {

namespace {

// The number of positions that have a row.
std::int64_t usable(const PositionConfig& config) {
  check_position("learned", "max_length", config.max_length);
  HEED_CHECK(config.offset < config.max_length,
             "[learned] offset {} leaves no position of max_length {}: max_length counts the rows "
             "before the first position too",
             config.offset, config.max_length);
  return config.max_length - config.offset;
}

}  // namespace

Learned::Learned(const PositionConfig& config, const PositionSizes& sizes, Generator& generator)
    : AddedCode("learned", sizes.embed, usable(config), config.offset),
      weight(empty({config.max_length, sizes.embed})) {
  init::normal(weight, 0.02, generator);
  weight.requires_grad();
}

Tensor Learned::codes(std::int64_t first, std::int64_t count, DType) const {
  return slice(weight, 0, first, first + count);  // [count, E]
}

}  // namespace heed
