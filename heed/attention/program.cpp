#include "heed/attention/program.h"

#include <algorithm>
#include <type_traits>

#include "heed/attention/visible_pairs.h"
#include "heed/base/error.h"
#include "heed/base/flops.h"
#include "heed/kernels/attention/stages.h"
#include "heed/kernels/attention/stages/gumbel.h"
#include "heed/ops/view.h"

namespace heed {

ProgramMaker::ProgramMaker(const AttentionSpec& spec, const kernels::AttentionShape& shape,
                           const ScoreOperands& score, DType dtype, TensorList& inputs)
    : shape_(shape),
      dtype_(dtype),
      scale_(score.scale),
      bf16_(score.bf16),
      additive_(score.additive.defined()),
      normaliser_(spec.normaliser),
      observers_(spec.observers.begin(), spec.observers.end()) {
  additive_at_ = inputs.size();
  if (additive_) inputs.push_back(score.additive);
  sinks_at_ = inputs.size();
  if (const Tensor& sinks = normaliser_.sinks(); sinks.defined()) {
    check_parameter(normaliser_.name(), "sinks", sinks, dtype);
    HEED_CHECK(sinks.shape() == Shape({shape.H}),
               "[attention] sinks of {} {}: there must be one for each of {} heads",
               normaliser_.name(), to_string(sinks.shape()), shape.H);
    inputs.push_back(contiguous(sinks));
  }
  for (const Modifier& stage : spec.modifiers) add(stage, modifiers_, inputs);
  for (const Reweight& stage : spec.reweights) add(stage, reweights_, inputs);
  check_counts();
  mask_ = spec.mask.bind(shape_);
}

void ProgramMaker::add(const Stage& stage, Stages& list, TensorList& inputs) const {
  const TensorList tensors = stage.impl()->inputs(shape_, dtype_);
  list.push_back({stage.impl(), inputs.size(), tensors.size()});
  inputs.insert(inputs.end(), tensors.begin(), tensors.end());
}

void ProgramMaker::check_counts() const {
  std::size_t modify = modifiers_.size() + (normaliser_.draw() ? 1 : 0),
              reweight = reweights_.size();
  for (const Observer& observer : observers_) {
    const ObservePoint point = observer.impl().point();
    if (point != ObservePoint::rows) ++(point == ObservePoint::scores ? modify : reweight);
  }
  HEED_CHECK(std::max(modify, reweight) <= kernels::kMaxStages,
             "[attention] more than {} stages in one list: join some of them", kernels::kMaxStages);
}

bool ProgramMaker::shows_log_sum_exp() const {
  return std::any_of(observers_.begin(), observers_.end(), [](const Observer& observer) {
    return observer.impl().point() == ObservePoint::rows;
  });
}

void ProgramMaker::add_flops(std::int64_t with_features, std::int64_t with_values) const {
  if (!counting_flops()) return;
  heed::add_flops(2 * visible_pairs(shape_, mask_.get()) *
                  (with_features * shape_.D + with_values * shape_.Dv));
}

std::int64_t ProgramMaker::top_k() const {
  // The kernel also reports the index of a single best key, so k = 1 is never dropped.
  const std::int64_t k = normaliser_.top_k();
  return k == 1 || k < shape_.Tk ? k : 0;
}

Observations ProgramMaker::start_observers() const {
  Observations observations;
  const ObservedCall call{shape_, dtype_, modifiers_.size(), mask_.get(), has_log_sum_exp()};
  for (const Observer& observer : observers_) {
    std::unique_ptr<Observation> observation = observer.impl().start(call);
    observation->point = observer.impl().point();
    observation->after = observer.impl().after().value_or(modifiers_.size());
    observations.push_back(std::move(observation));
  }
  return observations;
}

template <typename T>
struct OwnedProgram<T>::Sources {
  std::span<const Tensor> inputs;
  std::span<Tensor> gradients = {};
  std::span<const std::unique_ptr<Observation>> observations = {};
};

template <typename T>
OwnedProgram<T>::OwnedProgram(const ProgramMaker& spec, std::span<const Tensor> inputs,
                              const Observations& observations) {
  bind(spec, {.inputs = inputs, .observations = observations});
}

template <typename T>
OwnedProgram<T>::OwnedProgram(const ProgramMaker& spec, std::span<const Tensor> inputs,
                              std::span<Tensor> gradients) {
  bind(spec, {.inputs = inputs, .gradients = gradients});
}

template <typename T>
void OwnedProgram<T>::bind(const ProgramMaker& spec, const Sources& from) {
  program_.shape = spec.shape_;
  bind_modifiers(spec, from);
  add_observations(from, ObservePoint::weights, 0, reweights_);
  for (const auto& stage : spec.reweights_) add(stage, from, reweights_);
  add_observations(from, ObservePoint::read_weights, 0, reweights_);
  program_.scale = static_cast<T>(spec.scale_);
  program_.bf16 = spec.bf16_;
  if (spec.additive_) {
    const Tensor& weights = from.inputs[spec.additive_at_];
    program_.additive = weights.template data<T>();
    program_.additive_head = weights.rank() == 2 ? weights.size(1) : 0;
  }
  program_.modifiers = modifiers_;
  program_.mask = spec.mask_.get();
  program_.top_k = spec.top_k();
  program_.normaliser = spec.normaliser_.kind();
  program_.alpha = static_cast<T>(spec.normaliser_.alpha());
  if (spec.has_sinks()) program_.sinks = from.inputs[spec.sinks_at_].template data<T>();
  program_.reweights = reweights_;
}

template <typename T>
void OwnedProgram<T>::bind_modifiers(const ProgramMaker& spec, const Sources& from) {
  std::size_t done = 0;
  add_observations(from, ObservePoint::scores, done, modifiers_);
  std::size_t looking = modifiers_.size();
  for (const auto& stage : spec.modifiers_) {
    add(stage, from, modifiers_);
    const std::size_t before = modifiers_.size();
    add_observations(from, ObservePoint::scores, ++done, modifiers_);
    looking += modifiers_.size() - before;
  }
  if (const auto& random = spec.normaliser_.draw()) {
    keep(std::make_unique<kernels::GumbelNoise<T>>(*random), modifiers_);
  }
  program_.only_observers = looking == modifiers_.size();
}

template <typename T>
void OwnedProgram<T>::add(const ProgramMaker::MadeStage& stage, const Sources& from, Stages& list) {
  std::span<Tensor> gradients = from.gradients;
  if (!gradients.empty()) gradients = gradients.subspan(stage.first, stage.count);
  const StageBinding to{program_.shape, from.inputs.subspan(stage.first, stage.count), gradients};
  if constexpr (std::is_same_v<T, float>) {
    keep(stage.impl->bind_f32(to), list);
  } else {
    keep(stage.impl->bind_f64(to), list);
  }
}

template <typename T>
void OwnedProgram<T>::add_observations(const Sources& from, ObservePoint point, std::size_t after,
                                       Stages& list) {
  for (const auto& observation : from.observations) {
    if (observation->point != point) continue;
    if (point == ObservePoint::scores && observation->after != after) continue;
    if constexpr (std::is_same_v<T, float>) {
      keep(observation->stage_f32(), list);
    } else {
      keep(observation->stage_f64(), list);
    }
  }
}

template <typename T>
void OwnedProgram<T>::keep(TileStagePtr<T> stage, Stages& list) {
  if (stage == nullptr) return;
  list.push_back(stage.get());
  owned_.push_back(std::move(stage));
}

template class OwnedProgram<float>;
template class OwnedProgram<double>;

}  // namespace heed
