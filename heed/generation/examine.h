// A second look at a translation: how likely the model holds it and what it attended to, read off
// one pass over the whole of it. The pass has this sentence alone in it, so its numbers are the
// same to the bit whatever batch the translation came from; matrix products round by their sizes.
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

/// What every layer and head attended to: rows are the steps that wrote the tokens and the end.
TransformerWeights examine_weights(const Translator& translator, const WrittenFor& written);

/// The decoder's attention to the source, the mean over the heads of a layer (from 1; none: over
/// all layers too): [T + 1, S], the end's row last, the end's column too. Throws if the model has
/// no such layer, or an attention without weights.
Tensor source_attention(const TransformerWeights& weights,
                        std::optional<std::int64_t> layer = std::nullopt);

/// The same without the ends, which no alignment links: [T, S - 1].
Tensor without_ends(const Tensor& attention);

}  // namespace heed
