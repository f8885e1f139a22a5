// Texts, and pairs of texts, as models without decoder read them: tokens with special ones around
// them, cut to the length that the model has room for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "heed/generation/text_model.h"

namespace heed {

/// The tokens of a text.
struct ReadText {
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> types = {};  ///< One per token; empty: all 0.

  std::int64_t size() const { return std::ssize(ids); }
};

/// A text or a pair of texts.
struct TextOrPair {
  std::string_view text;
  std::optional<std::string_view> pair = {};
};

/// The tokens of a text, at most `longest`. TextFrame::special keeps the special tokens of a text
/// that is too long; of a pair, the longer text is cut first. Pairs need TextFrame::special and a
/// tokenizer of Hugging Face.
ReadText read_text(const Tokenizer& tokenizer, TextFrame frame, const TextOrPair& text,
                   std::int64_t longest);

/// One row per text, filled up with the padding token.
TextBatch batch_of(std::span<const ReadText> texts, std::int32_t padding);

}  // namespace heed
