// A small Transformer and a batch for it, shared by its tests.
#pragma once

#include "heed/models/transformer.h"
#include "tests/models/model_case.h"

namespace heed::test {

inline TransformerConfig small_transformer() {
  return {.source_vocabulary = kVocabulary,
          .target_vocabulary = kVocabulary,
          .encoder_layers = 2,
          .decoder_layers = 2,
          .block = {.embed = kEmbed, .heads = kHeads, .hidden = kHidden, .dropout = 0.0}};
}

/// Rows of 9, 5 and 7 source tokens, and 8 of the target.
struct TransformerBatch {
  Tensor source = random_ids(3, 9, 1), lengths = lengths_of({9, 5, 7});
  Tensor target = random_ids(3, 8, 2), expected = random_ids(3, 8, 3);
};

inline Tensor decoded(const Transformer& model, const TransformerBatch& batch) {
  return model.decode(batch.target, model.encode(batch.source, batch.lengths));  // [B, T, E]
}

}  // namespace heed::test
