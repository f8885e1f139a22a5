#include "heed/nn/pack_weights.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/nn/weight.h"

namespace heed {

void pack_weights(Module& model, PackedForm form) {
  std::map<ParameterKey, std::vector<Weight*>> tied;  // one matrix may have several names
  ParameterVisitor([&](const std::string& name, Weight& weight) {
    if (!weight.defined()) return;
    HEED_CHECK(!weight.packed || weight.packed->form() == form,
               "[pack] '{}' is packed as {} already: pack the model as it was before, as {}", name,
               name_of(weight.packed->form()), name_of(form));
    if (weight.packed) return;
    HEED_CHECK(weight.dtype() != DType::f64,
               "[pack] '{}' is f64: packed weights are f32, bf16 or int8; convert the model with "
               "to(DType::f32) first",
               name);
    tied[key_of(weight.data)].push_back(&weight);
  }).root(model);
  for (const auto& [key, weights] : tied) {
    weights[0]->pack(form);
    for (Weight* const weight : weights) *weight = *weights[0];
  }
}

void unpack_weights(Module& model) {
  std::map<std::shared_ptr<const PackedWeight>, Tensor> matrices;
  ParameterVisitor([&](const std::string&, Weight& weight) {
    if (!weight.packed) return;
    Tensor& matrix = matrices[weight.packed];
    if (!matrix.defined()) matrix = weight.packed->matrix();
    weight.data = matrix;
    weight.packed = nullptr;
  }).root(model);
}

}  // namespace heed
