#include "heed/nn/pack_weights.h"

#include <map>
#include <string>
#include <vector>

#include "heed/nn/weight.h"

namespace heed {

void pack_weights(Module& model, PackedForm form) {
  std::map<ParameterKey, std::vector<Weight*>> tied;  // one matrix may have several names
  ParameterVisitor([&](const std::string&, Weight& weight) {
    const bool is_plain = !weight.packed && weight.defined() && weight.dtype() != DType::f64;
    if (is_plain) tied[key_of(weight.data)].push_back(&weight);
  }).root(model);
  for (const auto& [key, weights] : tied) {
    weights[0]->pack(form);
    for (Weight* const weight : weights) *weight = *weights[0];
  }
}

}  // namespace heed
