#include "heed/nn/pack_weights.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/nn/embedding.h"
#include "heed/nn/weight.h"

namespace heed {

PackChoices::PackChoices(Module& model) {
  const auto ignore = [](const std::string&, Tensor&) {};
  const auto note = [&](Module& part) {
    if (const auto* const table = dynamic_cast<const Embedding*>(&part)) {
      vocabularies_.insert(table->weight.out());
    }
  };
  ParameterVisitor(ignore, note).root(model);
  ParameterVisitor([&](const std::string&, Weight& weight) {
    if (weight.refined && weight.data.defined()) refined_.insert(key_of(weight.data));
  }).root(model);
}

PackOptions PackChoices::of(const Weight& weight) const {
  const bool is_vocabulary = vocabularies_.contains(weight.out());
  return {.blocks = is_vocabulary ? BlockForm{.bits = 8, .scales = kernels::BlockScales::centred}
                                  : BlockForm{.bits = 4, .scales = kernels::BlockScales::shifted},
          .refined = refined_.contains(key_of(weight.data))};
}

void pack_weights(Module& model, PackedForm form) {
  const PackChoices choices(model);
  std::map<ParameterKey, std::vector<Weight*>> tied;  // one matrix may have several names
  ParameterVisitor([&](const std::string& name, Weight& weight) {
    if (!weight.defined()) return;
    HEED_CHECK(!weight.packed || weight.packed->form() == form,
               "[pack] '{}' is packed as {} already: pack the model as it was before, as {}", name,
               name_of(weight.packed->form()), name_of(form));
    if (weight.packed) return;
    HEED_CHECK(
        weight.dtype() != DType::f64,
        "[pack] '{}' is f64: packed weights are f32, bf16, int8 or int4; convert the model with "
        "to(DType::f32) first",
        name);
    tied[key_of(weight.data)].push_back(&weight);
  }).root(model);
  for (const auto& [key, weights] : tied) {
    weights[0]->pack(form, choices.of(*weights[0]));
    for (Weight* const weight : weights) {
      weight->data = {};
      weight->adapter = {};
      weight->packed = weights[0]->packed;
    }
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
