#include "heed/training/ema.h"

#include <algorithm>

#include "heed/base/arena.h"
#include "heed/kernels/optimizer.h"
#include "heed/nn/checkpoint_file.h"
#include "heed/tensor/copy.h"

namespace heed {

void EmaConfig::fields(io::Fields& field) {
  field("decay", decay, "decay of the average at each update", {.min = 0, .max = 1});
}

Ema::Ema(const std::vector<NamedTensor>& parameters, const EmaConfig& config) : config_(config) {
  HEED_CHECK(config.decay >= 0.0 && config.decay <= 1.0, "[ema] decay {}: it lies from 0 to 1",
             config.decay);
  for (const auto& [name, parameter] : parameters) {
    if (parameter.dtype() != DType::f32 && parameter.dtype() != DType::f64) continue;
    HEED_CHECK(parameter.contiguous(), "[ema] parameter '{}' is a view with gaps: use clone(x)",
               name);
    HEED_CHECK(parameters_.empty() || parameter.dtype() == parameters_.front().dtype(),
               "[ema] parameter '{}' is {}, those before it {}: all must have one dtype", name,
               name_of(parameter.dtype()), name_of(parameters_.front().dtype()));
    parameters_.push_back(parameter.detach());
    averages_.push_back({name, clone_data(parameter)});
  }
}

void Ema::update() {
  if (parameters_.empty()) return;
  visit_float("ema", parameters_.front().dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Scratch<kernels::EmaSlice<T>> slices(static_cast<std::int64_t>(parameters_.size()));
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      slices.data()[i] = {.n = parameters_[i].numel(),
                          .average = averages_[i].tensor.mutable_data<T>(),
                          .value = parameters_[i].data<T>()};
    }
    kernels::ema(std::span<const kernels::EmaSlice<T>>(slices.data(), parameters_.size()),
                 config_.decay);
  });
}

void Ema::swap() {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    visit_float("ema", parameters_[i].dtype(), [&](auto zero) {
      using T = decltype(zero);
      const auto average = averages_[i].tensor.mutable_values<T>();
      const auto value = parameters_[i].mutable_values<T>();
      std::swap_ranges(average.begin(), average.end(), value.begin());
    });
  }
}

void Ema::save(const std::filesystem::path& path) const { save_tensors(averages_, path); }

void Ema::load(const std::filesystem::path& path) {
  load_tensors(averages_, io::SafetensorsFile::open(path));
}

}  // namespace heed
