// What the models of Reformer layers share: the config of the layers, which a text names one by
// one, the values that their parameters start with, and the output layer.
#pragma once

#include <string_view>
#include <vector>

#include "heed/models/output_layer.h"
#include "heed/models/reversible_stack.h"
#include "heed/models/text_embedding.h"

namespace heed {

/// The layers that a key of a config names, "lsh local full".
struct ReformerLayers {
  std::string_view model, key;  ///< For messages.
  std::string_view words;
  bool causal = false;
};

struct ReformerBlock {
  std::int64_t embed = 256;
  std::int64_t heads = 4;
  std::int64_t head_size = 0;  // 0: embed / heads
  std::int64_t hidden = 0;     // of the feed-forward network; 0: four times embed
  FeedForwardKind activation = FeedForwardKind::gelu;
  bool bias = true;  // of linear layers and norms; the attentions may set another
  double norm_eps = 1e-5;
  double dropout = 0.0;  // of residual branches, embeddings and the feed-forward network
  double attention_dropout = 0.0;
  AttentionChoice lsh = "lsh buckets=32 chunk=64 rounds=4 redraw=true unique=true";
  AttentionChoice local = "block_sparse block=64 local=1 every=0";
  PositionChoice positions = "axial max_length=4096";
  std::int64_t feed_forward_rows = 1024;  // positions in the feed-forward network at a time
  Activations activations = Activations::reversible;

  /// As keys of the model's own section.
  void fields(io::Fields& field);
  /// Throws unless there are layers, and each fits.
  void validate(const ReformerLayers& layers) const;
  /// The layers as a stack.
  ReversibleStackConfig stack(const ReformerLayers& layers) const;
  /// Embeddings with the positions of the block.
  TextEmbeddingConfig embedding(std::int64_t vocabulary) const;
};

/// The attentions of the stack's layers.
std::vector<AttentionChoice> attentions_of(const ReversibleStackConfig& stack);

/// Sets parameters to their first values; matrices at the end of a branch start smaller.
void initialise_reformer(ReversibleStack& stack, Generator& generator);

/// An output layer with a matrix [V, F] of its own and a bias [V].
OutputLayer reformer_output(std::int64_t vocabulary, std::int64_t features, Generator& generator);

}  // namespace heed
