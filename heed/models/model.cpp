#include "heed/models/model.h"

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/ops/index.h"
#include "heed/tensor/create.h"

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

void Memory::reorder(std::span<const std::int64_t> from) {
  const NoGrad no_grad;
  const Tensor ids = from_values(from, {std::ssize(from)});
  for (Tensor* const x : {&states, &lengths, &values, &state, &cell}) {
    if (x->defined()) *x = index_select(*x, 0, ids);
  }
}

}  // namespace heed
