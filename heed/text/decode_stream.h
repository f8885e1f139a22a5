// Decodes a stream of tokens as they arrive. Text that the next token can still change is held
// back: with byte tokens, a character of which only some bytes have arrived.
//
//   DecodeStream stream(*tokenizer);
//   for (const std::int32_t token : tokens) print(stream.add(token));
//   print(stream.finish());
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/text/tokenizer.h"

namespace heed {

/// Decodes tokens one at a time.
class DecodeStream {
 public:
  /// The tokenizer must outlive the stream.
  explicit DecodeStream(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  /// Adds a token and returns the text that has become final, often "".
  std::string add(std::int32_t token);
  /// Returns the text that was held back.
  std::string finish();

 private:
  std::string next(bool is_last);

  const Tokenizer& tokenizer_;
  // Tokens whose text was returned, kept because the text of the next tokens depends on them (a
  // space before the first word is dropped), then the tokens that are held back.
  std::vector<std::int32_t> tokens_;
  std::size_t out_ = 0;  // number of tokens whose text was returned
};

}  // namespace heed
