// A given translation under a model: its probability and the attention weights, from one pass over
// the whole of it. For translations that a search did not write, such as a user's own; what a
// search finds has its scores and weights from the search itself (Hypothesis).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "heed/generation/translator.h"

namespace heed {

/// A source, as Translator::read() gives it, and tokens written for it, without begin and end.
struct WrittenFor {
  std::span<const std::int32_t> source;
  std::span<const std::int32_t> tokens;
};

/// The tokens with their probabilities and score, under the length penalty of the options.
Hypothesis examine_score(const Translator& translator, const WrittenFor& written,
                         const SearchOptions& options);

/// The weights of every layer and head: rows are the steps that write the tokens and the end.
ModelWeights examine_weights(const Translator& translator, const WrittenFor& written);

/// The decoder's attention to the source, the mean over the heads of a layer (from 1; none: over
/// all layers too): [T + 1, S], the end's row last, the end's column too. Throws if the model has
/// no such layer, or an attention without weights.
Tensor source_attention(const ModelWeights& weights,
                        std::optional<std::int64_t> layer = std::nullopt);

/// The same without the ends, which no alignment links: [T, S - 1].
Tensor without_ends(const Tensor& attention);

}  // namespace heed
