#include "heed/models/turing_machine.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/models/block.h"
#include "heed/ops/join.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

const TuringMachineConfig& checked(const TuringMachineConfig& config) {
  config.validate();
  HEED_CHECK(config.inputs > 0 && config.outputs > 0,
             "[turing_machine] vectors of {} and {} bits: give the sizes of both", config.inputs,
             config.outputs);
  return config;
}

}  // namespace

void TuringMachineConfig::fields(io::Fields& field) {
  constexpr io::Limits kBits{.min = 0, .max = kMaxFeatures};
  constexpr io::Limits kSize{.min = 1, .max = kMaxFeatures};
  constexpr io::Limits kHeads{.min = 1, .max = 1000};
  field("inputs", inputs, "bits of a vector that is read; 0: those of the data", kBits);
  field("outputs", outputs, "bits of a vector that is written; 0: those of the data", kBits);
  field("slots", machine.slots, "slots of the memory", kSize);
  field("width", machine.width, "size of a slot", kSize);
  field("read_heads", machine.read_heads, "number of read heads", kHeads);
  field("write_heads", machine.write_heads, "number of write heads", kHeads);
  field("shifts", machine.shifts,
        "maximum number of slots that a head moves in one step, in either direction",
        {.min = 0, .max = kMaxFeatures});
  field("controller", machine.controller, "network that controls the heads");
  field("hidden", machine.hidden, "features of the controller", kSize);
}

void TuringMachineConfig::validate() const { machine.validate(); }

void TuringMachineConfig::set_sizes(const ModelSizes& sizes) {
  inputs = sizes.inputs;
  outputs = sizes.outputs;
}

NtmConfig TuringMachineConfig::layer() const {
  NtmConfig config = machine;
  config.embed = std::max(inputs, outputs);
  return config;
}

TuringMachine::TuringMachine(const Config& config, Generator& generator)
    : machine(checked(config).layer(), generator), config_(config) {}

ModelChoice TuringMachine::choice() const {
  return choice_of<TuringMachine>(kTuringMachine, config_);
}

void TuringMachine::visit(ParameterVisitor& visitor) { visitor("machine", machine); }

Tensor TuringMachine::operator()(const Tensor& x, std::vector<LayerWeights>* weights) const {
  HEED_CHECK(x.rank() == 3 && x.size(2) == config_.inputs,
             "[turing_machine] vectors {}: they must be [B, T, {}]", to_string(x.shape()),
             config_.inputs);
  Tensor read = x;  // [B, T, E]
  const std::int64_t missing = config_.outputs - config_.inputs;
  if (missing > 0) read = concat({x, zeros({x.size(0), x.size(1), missing}, x.dtype())}, 2);
  if (weights != nullptr) weights->assign(1, {});
  const NtmWeights seen{.read = weights != nullptr ? &weights->front().self : nullptr,
                        .write = weights != nullptr ? &weights->front().cross : nullptr};
  return slice(machine.run(read, seen), 2, 0, config_.outputs);  // [B, T, O]
}

}  // namespace heed
