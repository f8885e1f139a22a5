// Exponential moving average of parameters (Polyak and Juditsky 1992): the average often
// generalises better than the last step.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "heed/io/fields.h"
#include "heed/nn/module.h"

namespace heed {

struct EmaConfig {
  double decay = 0.999;

  void fields(io::Fields& field);
};

/// Averages of the f32 or f64 parameters, starting at their current values; others are ignored.
class Ema {
 public:
  explicit Ema(const std::vector<NamedTensor>& parameters, const EmaConfig& config = {});

  /// average = decay * average + (1 - decay) * parameter, after each step of the optimiser.
  void update();
  /// Exchanges parameters and averages: to evaluate or save with the averages, and back.
  void swap();
  /// The averages under the names of their parameters.
  std::span<const NamedTensor> averages() const { return averages_; }

  /// Writes the averages, atomically.
  void save(const std::filesystem::path& path) const;
  /// Reads what save() has written; on an error nothing is changed.
  void load(const std::filesystem::path& path);

 private:
  EmaConfig config_;
  std::vector<Tensor> parameters_;
  std::vector<NamedTensor> averages_;
};

}  // namespace heed
