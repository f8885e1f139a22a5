// The models that are measured as wholes, with their batches and optimisers: Transformer-Tiny and
// Transformer-base as translators, a small language model. benchmarks/peer/models_cases.py builds
// the same ones in PyTorch from what save() writes.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "heed/base/threads.h"
#include "heed/nn/module.h"

namespace heed::bench {

/// Told as soon as a part of the forward pass is done, with its name.
using Mark = FunctionRef<void(const char* part)>;

/// A model in training.
class TrainedModel {
 public:
  virtual ~TrainedModel() = default;

  virtual std::int64_t batches() const = 0;
  /// Predicted tokens of a batch, padding left out.
  virtual std::int64_t tokens(std::int64_t batch) const = 0;
  /// The mean loss of a batch, on the tape.
  virtual Tensor forward(std::int64_t batch, Mark mark) = 0;
  /// Clips, where the model's recipe does, and steps the optimiser.
  virtual void update() = 0;
  /// Writes all parameters, batches and sizes for the peer.
  virtual void save(const std::filesystem::path& path) = 0;
  virtual Module& module() = 0;

  /// Everything that one batch of training takes.
  void step(std::int64_t batch);
  /// The mean loss of a batch in use: no dropout, no tape.
  double loss_in_use(std::int64_t batch);
};

struct ModelCase {
  std::string_view name;
  std::string_view title;
  double goal;  // times as fast as PyTorch
  int rounds;   // of measurement
  bool cheap;   // measured on one thread too, others only with HEED_BENCH_ALL=1
  std::unique_ptr<TrainedModel> (*make)();
};

/// All of them, or that one alone which HEED_BENCH_MODEL names.
std::span<const ModelCase> model_cases();

/// The numbers of threads that a case is measured on, the largest last.
std::span<const int> threads_of(const ModelCase& item);

/// The case of that name; throws heed::Error if there is none.
const ModelCase& model_case(std::string_view name);

}  // namespace heed::bench
