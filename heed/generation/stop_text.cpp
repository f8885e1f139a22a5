#include "heed/generation/stop_text.h"

#include <algorithm>
#include <utility>

#include "heed/text/decode_stream.h"

namespace heed {
namespace {

// The text of a token may depend on this many tokens before it: a space is dropped at the start of
// a text, and a character may be up to four tokens.
constexpr std::size_t kContext = 8;

}  // namespace

std::optional<std::size_t> find_stop(std::string_view text, std::span<const std::string> stops) {
  std::size_t first = text.npos;
  for (const std::string& stop : stops) first = std::min(first, text.find(stop));
  return first == text.npos ? std::nullopt : std::optional(first);
}

std::size_t count_held_back(std::string_view text, std::span<const std::string> stops) {
  std::size_t most = 0;
  for (const std::string& stop : stops) {
    for (std::size_t n = std::min(stop.size() - 1, text.size()); n > most; --n) {
      if (text.ends_with(std::string_view(stop).substr(0, n))) most = n;
    }
  }
  return most;
}

std::function<bool(std::span<const std::int32_t> tokens)> stop_at(
    const Tokenizer& tokenizer, std::vector<std::string> stops,
    std::span<const std::int32_t> prompt) {
  std::size_t longest = 0;
  for (const std::string& stop : stops) longest = std::max(longest, stop.size());
  const std::span<const std::int32_t> last = prompt.last(std::min(prompt.size(), kContext));
  return [&tokenizer, stops = std::move(stops), longest,
          before = std::vector(last.begin(), last.end())](std::span<const std::int32_t> tokens) {
    // Tokens have at least one byte each, but for rare special ones. Stop strings before these
    // tokens have ended the text already.
    const std::size_t begin = tokens.size() - std::min(tokens.size(), longest + kContext);
    const std::size_t context = std::min(begin, kContext);
    DecodeStream stream(tokenizer);
    if (begin == 0) {
      for (const std::int32_t token : before) stream.add(token);
    }
    for (const std::int32_t token : tokens.subspan(begin - context, context)) stream.add(token);
    std::string text;
    for (const std::int32_t token : tokens.subspan(begin)) text += stream.add(token);
    return find_stop(text, stops).has_value();
  };
}

}  // namespace heed
