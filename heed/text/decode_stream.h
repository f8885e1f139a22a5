// The text of tokens as they come. What is not certain until the next token waits: a character of
// which only some bytes are there, as vocabularies of bytes make them.
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

class DecodeStream {
 public:
  /// The tokenizer must outlive the stream.
  explicit DecodeStream(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  /// The text that is certain with one token more; often "".
  std::string add(std::int32_t token);
  /// What still waits, as it is.
  std::string finish();

 private:
  std::string next(bool is_last);

  const Tokenizer& tokenizer_;
  // Tokens whose text is out, kept because the text of the next ones depends on what stands before
  // (the space of a first word is silent), then those that wait.
  std::vector<std::int32_t> tokens_;
  std::size_t out_ = 0;  // how many of them are out
};

}  // namespace heed
