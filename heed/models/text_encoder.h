// Transformer layers over a text, each position of which attends to all: the common part of
// classifiers, sentence encoders and models of masked tokens. It is no model of its own.
#pragma once

#include <string_view>
#include <vector>

#include "heed/models/model_kind.h"
#include "heed/models/stack.h"
#include "heed/models/text_embedding.h"

namespace heed {

/// Its keys stand among those of the model that contains it.
struct TextEncoderConfig {
  std::int64_t vocabulary = 0;
  std::int64_t layers = 2;
  BlockConfig block = default_block();
  std::int64_t types = 0;         // kinds of tokens, such as BERT's two segments
  bool scaled_embeddings = true;  // multiplied by the square root of embed
  bool embedding_norm = false;    // a norm of the sum of the embeddings

  /// A small encoder: pre-norm, GELU.
  static BlockConfig default_block();

  void fields(io::Fields& field);
  /// Throws unless the layers can be made; `model` is the kind that contains them, for messages.
  void validate(std::string_view model) const;
  /// Every attention of the model.
  std::vector<AttentionChoice> attentions() const { return block.self_attentions(); }
};

/// Parameters "tokens" (embeddings) and "encoder" (a stack).
class TextEncoder : public Module {
 public:
  explicit TextEncoder(const TextEncoderConfig& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  /// The states of the positions [B, T, E]. `weights`, if not null, receives one entry per layer.
  /// Types of tokens are ignored if the model has none.
  Tensor operator()(const TextBatch& batch, std::vector<LayerWeights>* weights = nullptr) const;
  /// The most tokens of a text.
  std::int64_t max_length() const { return tokens.max_length(); }

  TextEmbedding tokens;
  Stack encoder;
};

}  // namespace heed
