// The models of the benchmarks, with their batches and optimisers: Transformer-Tiny,
// Transformer-base and recurrent networks as translators, a small language model and a residual
// network.
// benchmarks/peer/models_cases.py builds the same models in PyTorch from the file that save()
// writes.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "heed/base/threads.h"
#include "heed/nn/module.h"
#include "heed/training/optimizer.h"

namespace heed::bench {

/// The learning rate of all models: small, because the same batches are repeated.
inline constexpr double kRepeatedRate = 1e-5;

/// One update with that rate.
void repeat_step(Optimizer& optimizer);

/// Called after each part of the forward pass, with its name.
using Mark = FunctionRef<void(const char* part)>;

/// A model in training.
class TrainedModel {
 public:
  virtual ~TrainedModel() = default;

  virtual std::int64_t batches() const = 0;
  /// Predicted tokens of a batch, without padding, or what else unit() says.
  virtual std::int64_t tokens(std::int64_t batch) const = 0;
  virtual const char* unit() const { return "tokens"; }
  /// The mean loss of a batch, on the tape.
  virtual Tensor forward(std::int64_t batch, Mark mark) = 0;
  /// Clips gradients, if the recipe of the model does, and steps the optimiser.
  virtual void update() = 0;
  /// Writes all parameters, batches and sizes for the peer.
  virtual void save(const std::filesystem::path& path) = 0;
  virtual Module& module() = 0;

  /// One whole training step on a batch.
  void step(std::int64_t batch);
  /// The mean loss of a batch in evaluation mode: no dropout, no tape.
  double loss_in_use(std::int64_t batch);
};

struct ModelCase {
  std::string_view name;
  std::string_view title;
  double goal;  // speed relative to PyTorch
  int rounds;   // of measurement
  bool cheap;   // measured on one thread too, others only with HEED_BENCH_ALL=1
  std::unique_ptr<TrainedModel> (*make)();
};

/// All cases, or only the one that HEED_BENCH_MODEL names.
std::span<const ModelCase> model_cases();

/// The numbers of threads that a case is measured with, the largest last.
std::span<const int> threads_of(const ModelCase& item);

/// The case of that name; throws heed::Error if there is none.
const ModelCase& model_case(std::string_view name);

}  // namespace heed::bench
