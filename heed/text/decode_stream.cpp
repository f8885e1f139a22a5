#include "heed/text/decode_stream.h"

#include <span>

namespace heed {
namespace {

// Tokenizers decode invalid bytes as this.
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

}  // namespace

std::string DecodeStream::add(std::int32_t token) {
  tokens_.push_back(token);
  return next(false);
}

std::string DecodeStream::finish() { return next(true); }

std::string DecodeStream::next(bool is_last) {
  const std::string before = tokenizer_.decode(std::span(tokens_).first(out_));
  std::string now = tokenizer_.decode(tokens_);
  const bool waits = now.ends_with(kReplacement) && !is_last;
  if (waits || now.size() <= before.size()) return "";
  tokens_.erase(tokens_.begin(), tokens_.begin() + static_cast<std::ptrdiff_t>(out_));
  out_ = tokens_.size();
  return now.substr(before.size());
}

}  // namespace heed
