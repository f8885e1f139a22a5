// Decoding with Transformer layers: with the state of a stack, or by computing everything again.
#pragma once

#include <memory>

#include "heed/models/model.h"
#include "heed/models/reversible_stack.h"
#include "heed/models/stack.h"
#include "heed/models/text_embedding.h"

namespace heed {

/// Decodes with kept keys and values. Embeddings and stack must outlive it; throws if one of the
/// attentions cannot go step by step.
std::unique_ptr<Decoding> decode_with_state(const TextEmbedding& tokens, const Stack& stack,
                                            const DecodeStart& from);
std::unique_ptr<Decoding> decode_with_state(const TextEmbedding& tokens,
                                            const ReversibleStack& stack, const DecodeStart& from);

/// Decodes a translation by running all positions again at each step: for attention that cannot go
/// step by step. The model must outlive it.
std::unique_ptr<Decoding> decode_by_replay(const TranslationModel& model, const Memory& memory);

}  // namespace heed
