#include "heed/text/decode_stream.h"

#include <span>

namespace heed {
namespace {

// Tokenizers decode invalid bytes as this.
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// So many tokens are held back at most: tokens of parts of characters, and tokens without text. It
// limits the time for a token; longer sequences are no text that a tokenizer makes of characters.
constexpr std::size_t kMostHeld = 64;

}  // namespace

std::string DecodeStream::add(std::int32_t token) {
  tokens_.push_back(token);
  return next(false);
}

std::string DecodeStream::finish() { return next(true); }

std::string DecodeStream::next(bool is_last) {
  const std::string before = tokenizer_.decode(std::span(tokens_).first(out_));
  std::string now = tokenizer_.decode(tokens_);
  const std::size_t held = tokens_.size() - out_;
  const bool waits = now.ends_with(kReplacement) && !is_last && held <= kMostHeld;
  if (waits) return "";
  if (now.size() <= before.size()) {  // tokens without text, such as special ones
    if (held > kMostHeld) tokens_.erase(tokens_.begin() + static_cast<std::ptrdiff_t>(out_));
    return "";
  }
  tokens_.erase(tokens_.begin(), tokens_.begin() + static_cast<std::ptrdiff_t>(out_));
  out_ = tokens_.size();
  return now.substr(before.size());
}

}  // namespace heed
