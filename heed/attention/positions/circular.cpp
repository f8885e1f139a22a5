#include "heed/attention/positions/circular.h"

#include "heed/attention/stages.h"
#include "heed/nn/init.h"
#include "heed/tensor/create.h"

namespace heed {

CircularRelative::CircularRelative(const PositionConfig& config, const PositionSizes& sizes,
                                   Generator& generator) {
  check_position("circular", "period", config.period);
  check_position("circular", "head", sizes.head);
  for (Tensor* const table : {&keys, &values}) {
    *table = empty({config.period, sizes.head});
    init::xavier_uniform(*table, generator);
    table->requires_grad();
  }
}

void CircularRelative::visit(ParameterVisitor& visitor) {
  visitor("keys", keys);
  visitor("values", values);
}

void CircularRelative::modify(AttentionSpec& spec, Corner corner) const {
  spec.modifiers.push_back(circular_keys(keys, corner));
  spec.reweights.push_back(circular_values(values, corner));
}

}  // namespace heed
