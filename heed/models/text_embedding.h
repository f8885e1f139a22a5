// Embeddings of tokens with their positions, dropout(scale * embedding + position): the first part
// of every model of text.
#pragma once

#include <memory>

#include "heed/attention/position.h"
#include "heed/nn/dropout.h"
#include "heed/nn/embedding.h"

namespace heed {

struct TextEmbeddingConfig {
  std::int64_t vocabulary = 0;
  std::int64_t embed = 0;
  std::optional<std::int64_t> padding = {};  // a token whose vector is 0 and stays 0
  bool scaled = true;  // scaled by the square root of embed (Vaswani et al. 2017)
  double dropout = 0.0;
  PositionConfig position = {};  // codes that act inside attention have no effect here
};

/// Parameters "tokens.weight" and, if positions are learned, "position.weight".
class TextEmbedding : public Module {
 public:
  explicit TextEmbedding(const TextEmbeddingConfig& config,
                         Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  /// ids [B, T] -> [B, T, E]; the first token is at position `first`.
  Tensor operator()(const Tensor& ids, std::int64_t first = 0) const;
  /// The maximum number of tokens of a text, limited by the position code.
  std::int64_t max_length() const { return position ? position->length() : Position::kAnyLength; }

  Embedding tokens;
  std::unique_ptr<Position> position;  // or null
  Dropout dropout;

 private:
  double scale_;
};

}  // namespace heed
