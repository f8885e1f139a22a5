// The embedding layer: a table that maps token ids to vectors.
#pragma once

#include <optional>

#include "heed/base/random.h"
#include "heed/nn/module.h"
#include "heed/nn/weight.h"

namespace heed {

/// Options of Embedding.
struct EmbeddingConfig {
  std::int64_t vocabulary = 0;
  std::int64_t size = 0;
  std::optional<std::int64_t> padding = {};  // a token whose vector is 0 and is not trained
};

/// Embedding table. Parameter "weight" [vocabulary, size], initialised from the standard normal
/// distribution as in PyTorch.
class Embedding : public Module {
 public:
  explicit Embedding(const EmbeddingConfig& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  /// ids […] (i32 or i64) -> […, size].
  Tensor operator()(const Tensor& ids) const;

  Weight weight;  // [V, E]; an output layer may share it

 private:
  std::optional<std::int64_t> padding_;
};

}  // namespace heed
