#include "heed/models/lora.h"

#include <algorithm>
#include <functional>
#include <map>

#include "heed/base/error.h"
#include "heed/base/wildcard.h"
#include "heed/io/value.h"
#include "heed/nn/init.h"
#include "heed/nn/linear.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

// Calls f with the name of each linear layer of a model: "encoder.layers.0.linear1".
void each_linear(Module& model, const std::function<void(std::string_view, Linear&)>& f) {
  const auto ignore = [](const std::string&, Tensor&) {};
  ParameterVisitor* current = nullptr;
  const auto visit = [&](Module& module) {
    if (auto* const linear = dynamic_cast<Linear*>(&module)) {
      std::string_view name = current->prefix();
      if (!name.empty()) name.remove_suffix(1);  // its separator
      f(name, *linear);
    }
  };
  ParameterVisitor visitor(ignore, visit);
  current = &visitor;
  visitor.root(model);
}

bool matches_any(const std::vector<std::string>& patterns, std::string_view name) {
  return std::ranges::any_of(
      patterns, [&](const std::string& pattern) { return matches_wildcard(pattern, name); });
}

// Copies of parameters that are trained beside the adapters. `uses` counts the names of each.
void train_copies(Module& model, const std::vector<std::string>& patterns,
                  const std::map<ParameterKey, int>& uses) {
  const auto replace = [&](const std::string& name, Tensor& parameter) {
    const auto found = uses.find(key_of(parameter));
    if (found == uses.end() || !matches_any(patterns, name)) return;  // an adapter, or frozen
    HEED_CHECK(found->second == 1,
               "[lora] parameter {} is tied to another one: it cannot be trained beside adapters",
               io::in_quotes(name));
    parameter = clone_data(parameter);
    parameter.requires_grad();
  };
  const auto ignore = [](Module&) {};
  ParameterVisitor(replace, ignore).root(model);
}

}  // namespace

void LoraConfig::fields(io::Fields& field) {
  field("rank", rank, "rank of the adapters; 0: none, all parameters are trained",
        {.min = 0, .max = 4096});
  field("alpha", alpha, "adapters are multiplied by alpha / rank", {.min = 0});
  field("targets", targets, "names of the linear layers that get one; * stands for any text");
  field("trained", trained,
        "names of parameters that are trained too, such as a classifier's head");
}

void LoraConfig::validate() const {
  HEED_CHECK(rank >= 0, "[lora] rank {}: it must be at least 1, or 0 for no adapters", rank);
  HEED_CHECK(rank == 0 || !targets.empty(), "[lora] there are no targets: name linear layers");
}

void add_lora(Module& model, const LoraConfig& config, Generator& generator) {
  config.validate();
  HEED_CHECK(config.rank > 0, "[lora] rank {}: it must be at least 1", config.rank);
  model.requires_grad(false);
  std::map<ParameterKey, int> uses;  // of each matrix; those used twice are tied
  for (const NamedTensor& parameter : model.every_name()) {
    ++uses[key_of(parameter.tensor)];
  }
  int adapted = 0;
  each_linear(model, [&](std::string_view name, Linear& linear) {
    if (uses[key_of(linear.weight.data)] > 1) return;
    if (!matches_any(config.targets, name)) return;
    Adapter adapter{.down = empty({config.rank, linear.weight.in()}, linear.weight.dtype()),
                    .up = zeros({linear.weight.out(), config.rank}, linear.weight.dtype()),
                    .scale = config.alpha / static_cast<double>(config.rank)};
    init::kaiming_uniform(adapter.down, generator);
    adapter.down.requires_grad();
    adapter.up.requires_grad();
    linear.weight.adapter = adapter;
    ++adapted;
  });
  HEED_CHECK(adapted > 0,
             "[lora] no linear layer matches the targets {}: `heed inspect` shows names",
             fmt::join(config.targets, ", "));
  train_copies(model, config.trained, uses);
}

int merge_lora(Module& model) {
  int merged = 0;
  each_linear(model, [&](std::string_view, Linear& linear) {
    if (!linear.weight.adapter.defined()) return;
    linear.weight.merge_adapter();
    ++merged;
  });
  return merged;
}

void freeze_parameters(Module& model, const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    const int frozen =
        model.freeze([&](const std::string& name) { return matches_wildcard(pattern, name); });
    HEED_CHECK(frozen > 0,
               "[train] freeze: no parameter matches {}: `heed inspect` shows their names",
               io::in_quotes(pattern));
  }
  const std::vector<Tensor> all = model.parameters();
  HEED_CHECK(std::ranges::any_of(all, [](const Tensor& x) { return x.tracks_grad(); }),
             "[train] freeze leaves no parameter to train: freeze fewer");
}

}  // namespace heed
