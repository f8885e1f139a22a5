// Embeddings of tokens with their positions: the first part of every model of text,
// dropout(norm(scale * embedding + position + type)). Norm and token types are options.
#pragma once

#include <memory>

#include "heed/attention/position.h"
#include "heed/nn/dropout.h"
#include "heed/nn/embedding.h"
#include "heed/nn/norm.h"

namespace heed {

struct TextEmbeddingConfig {
  std::int64_t vocabulary = 0;
  std::int64_t embed = 0;
  std::optional<std::int64_t> padding = {};  // a token whose vector is 0 and stays 0
  bool scaled = true;                   // scaled by the square root of embed (Vaswani et al. 2017)
  std::int64_t types = 0;               // kinds of tokens, such as BERT's two segments
  std::optional<NormConfig> norm = {};  // of the sum
  double dropout = 0.0;
  PositionConfig position = {};  // codes that act inside attention have no effect here
};

/// Parameters "tokens.weight" and, if there are any, "position.weight" (learned positions),
/// "types.weight" and "norm".
class TextEmbedding : public Module {
 public:
  explicit TextEmbedding(const TextEmbeddingConfig& config,
                         Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  /// ids [B, T] -> [B, T, E]; the first tokens are at positions `first`. `token_types` [B, T] are 0
  /// if undefined.
  Tensor operator()(const Tensor& ids, FirstPositions first = 0,
                    const Tensor& token_types = {}) const;
  /// The maximum number of tokens of a text, limited by the position code.
  std::int64_t max_length() const { return position ? position->length() : Position::kAnyLength; }

  Embedding tokens;
  std::unique_ptr<Position> position;  // or null
  std::optional<Embedding> types;
  std::optional<Norm> norm;
  Dropout dropout;

 private:
  Tensor type_vectors(const Tensor& token_types) const;

  double scale_;
};

}  // namespace heed
