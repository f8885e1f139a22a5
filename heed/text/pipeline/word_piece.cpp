#include "heed/text/pipeline/word_piece.h"

#include "heed/base/error.h"
#include "heed/text/unicode.h"

namespace heed::pipeline {
namespace {

// The unknown token may be missing in a vocabulary as long as no word needs it.
Subword unknown_word(std::optional<std::int32_t> unknown, std::string_view name,
                     std::string_view word) {
  HEED_CHECK(
      unknown.has_value(),
      "[tokenizer] the word {} is not in the vocabulary, and neither is the unknown token {}",
      io::in_quotes(word), io::in_quotes(name));
  return {*unknown, 0, static_cast<std::uint32_t>(word.size())};
}

}  // namespace

WordPiece::WordPiece(const JsonNode& node)
    : SubwordModel(TokenTable::read(node.at("vocab"))),
      prefix_(node.text("continuing_subword_prefix", "##")),
      unknown_text_(node.text("unk_token", "[UNK]")),
      unknown_(tokens().id_of(unknown_text_)) {
  if (const auto longest = node.find("max_input_chars_per_word")) {
    longest_ = longest->integer(0, 1 << 30);
  }
  for (std::int32_t id = 0; id < tokens().limit(); ++id) {
    const std::string_view token = tokens().text(id);
    // Of equal tokens the last one counts, as in the table.
    if (tokens().id_of(token) != id) continue;
    first_.add(token, id);
    if (token.starts_with(prefix_)) other_.add(token.substr(prefix_.size()), id);
  }
}

void WordPiece::tokenize(std::string_view word, std::vector<Subword>& out) const {
  const std::size_t first = out.size();
  std::int64_t characters = 0;
  for (const char c : word) characters += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  bool complete = characters <= longest_;
  for (std::size_t at = 0; complete && at < word.size();) {
    std::size_t length = 0;
    std::int32_t token = -1;
    (at == 0 ? first_ : other_).prefixes(word.substr(at), [&](std::size_t bytes, std::int32_t id) {
      length = bytes, token = id;
    });
    complete = token >= 0;
    if (complete) {
      out.push_back(
          {token, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + length)});
    }
    at += length;
  }
  if (complete) return;
  out.resize(first);
  out.push_back(unknown_word(unknown_, unknown_text_, word));
}

WordLevel::WordLevel(const JsonNode& node)
    : SubwordModel(TokenTable::read(node.at("vocab"))),
      unknown_text_(node.text("unk_token", "<unk>")),
      unknown_(tokens().id_of(unknown_text_)) {}

void WordLevel::tokenize(std::string_view word, std::vector<Subword>& out) const {
  if (const auto id = tokens().id_of(word)) {
    out.push_back({*id, 0, static_cast<std::uint32_t>(word.size())});
  } else {
    out.push_back(unknown_word(unknown_, unknown_text_, word));
  }
}

}  // namespace heed::pipeline
