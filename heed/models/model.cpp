#include "heed/models/model.h"

#include "heed/base/error.h"

namespace heed {

void Model::adapt(const LoraConfig& config, Generator& generator) {
  HEED_CHECK(lora_.rank == 0, "[lora] the model has adapters of rank {}: merge them first",
             lora_.rank);
  add_lora(*this, config, generator);
  lora_ = config;
}

void Model::merge_adapters() {
  merge_lora(*this);
  lora_ = {};
}

}  // namespace heed
