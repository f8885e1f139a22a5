// Tokenizers whose tokens are parts of the text as it stands, so that even an unknown one has a
// text: words, parts of words, characters.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

class TextParts {
 public:
  virtual ~TextParts() = default;
  /// The texts of the tokens of a text, one for each token of Tokenizer::encode().
  virtual std::vector<std::string> parts(std::string_view text) const = 0;
  /// Tokenizer::decode() with more tokens: id size() + k is the part words[k] of another text.
  virtual std::string decode_with(std::span<const std::int32_t> ids,
                                  std::span<const std::string> words) const = 0;
};

}  // namespace heed
