// Scores and attention weights of a given translation, from one pass over it. For translations that
// were not found by a search, such as a user's own; search results have their scores and weights
// already (Hypothesis).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "heed/generation/alignment.h"
#include "heed/generation/translator.h"

namespace heed {

/// A source, as returned by Translator::read(), and the tokens of its translation, without begin
/// and end.
struct WrittenFor {
  std::span<const std::int32_t> source;
  std::span<const std::int32_t> tokens;
  /// Of a source whose model copies; the tokens may have its words (Translator::read_result).
  const CopiedWords* copied = nullptr;
};

/// The tokens with their log-probabilities and score, under the length penalty of the options. As
/// in searches, tokens that every result begins with have probability 1.
Hypothesis examine_score(const Translator& translator, const WrittenFor& written,
                         const SearchOptions& options);

/// The weights of every layer and head: rows are the steps that write the tokens and the end token.
ModelWeights examine_weights(const Translator& translator, const WrittenFor& written);

/// How much each written token has of each source token, from the decoder's attention to the
/// source, averaged over heads: [T + 1, S], with the end token as last row and last column. Rows
/// sum to 1. Of one layer (from 1) these are its weights. Of all of them, they are the mean of
/// - the upper half of the layers, which attends to the source of the token that a step writes;
/// - of the others, those that attend to the source of the token that a step reads, which the step
///   before has written: rows of the next step, if they agree better with the upper half;
/// with columns divided by their sums, since tokens that all steps attend to, such as the end, say
/// little about each.
///
/// Throws if the model has no such layer, or if its attention has no weights.
Tensor source_attention(const ModelWeights& weights,
                        std::optional<std::int64_t> layer = std::nullopt);

/// The edges of a result and its source, as returned by Translator::read(): end tokens, languages.
AlignmentEdges edges_of(const Translator& translator, const Hypothesis& hypothesis);

/// Attention [T + 1, S] without the special tokens: [T, S - 1] if both sides have an end token
/// only.
Tensor without_ends(const Tensor& attention, const AlignmentEdges& edges = {});

}  // namespace heed
