#include "heed/attention/positions/shaw.h"

#include "heed/attention/stages.h"
#include "heed/nn/init.h"
#include "heed/tensor/create.h"

namespace heed {

ShawRelative::ShawRelative(const PositionConfig& config, const PositionSizes& sizes,
                           Generator& generator) {
  check_position("shaw", "clip", config.clip, 0);
  check_position("shaw", "head", sizes.head);
  for (Tensor* const table : {&keys, &values}) {
    *table = empty({2 * config.clip + 1, sizes.head});
    init::xavier_uniform(*table, generator);
    table->requires_grad();
  }
}

void ShawRelative::visit(ParameterVisitor& visitor) {
  visitor("keys", keys);
  visitor("values", values);
}

void ShawRelative::modify(AttentionSpec& spec, Corner corner) const {
  spec.modifiers.push_back(shaw_keys(keys, corner));
  spec.reweights.push_back(shaw_values(values, corner));
}

}  // namespace heed
