#include "heed/text/pipeline/added_tokens.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/text/unicode.h"
#include "heed/text/unicode_forms.h"

namespace heed::pipeline {
namespace {

AddedToken read_added_token(const JsonNode& node) {
  AddedToken token;
  token.content = node.at("content").text();
  token.id = static_cast<std::int32_t>(node.at("id").integer(0, TokenTable::kMaxId));
  token.special = node.flag("special", false);
  token.single_word = node.flag("single_word", false);
  token.left_strip = node.flag("lstrip", false);
  token.right_strip = node.flag("rstrip", false);
  token.normalized = node.flag("normalized", !token.special);
  return token;
}

// The character that ends before byte `end`.
char32_t last_character(std::string_view text, std::size_t end) {
  std::size_t begin = end - 1;
  while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
  return unicode::front(text.substr(begin)).value;
}

std::size_t space_begin(std::string_view text, std::size_t end) {
  while (end > 0 && unicode::is_white_space(last_character(text, end))) {
    --end;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  }
  return end;
}

std::size_t space_end(std::string_view text, std::size_t begin) {
  while (begin < text.size()) {
    const unicode::CodePoint point = unicode::front(text.substr(begin));
    if (!unicode::is_white_space(point.value)) break;
    begin += point.bytes;
  }
  return begin;
}

bool stands_alone(std::string_view text, std::size_t begin, std::size_t end) {
  return (begin == 0 || !unicode::is_word(last_character(text, begin))) &&
         (end == text.size() || !unicode::is_word(unicode::front(text.substr(end)).value));
}

}  // namespace

void AddedTokens::Finder::add(std::string_view text, std::int32_t id) {
  if (text.empty() || !ids.try_emplace(std::string(text), id).second) return;
  auto& list = lengths[static_cast<unsigned char>(text.front())];
  const auto length = static_cast<std::uint32_t>(text.size());
  const auto place = std::lower_bound(list.begin(), list.end(), length, std::greater<>());
  if (place == list.end() || *place != length) list.insert(place, length);
}

std::size_t AddedTokens::Finder::longest(std::string_view text, std::int32_t& id) const {
  for (const std::uint32_t length : lengths[static_cast<unsigned char>(text.front())]) {
    if (length > text.size()) continue;
    const auto found = ids.find(text.substr(0, length));
    if (found == ids.end()) continue;
    id = found->second;
    return length;
  }
  return 0;
}

AddedTokens::AddedTokens(const JsonNode& node, const TokenTable& model,
                         const Normalizer* normalizer) {
  std::int32_t next = static_cast<std::int32_t>(model.size());
  for (const JsonNode& element : node.list()) {
    AddedToken token = read_added_token(element);
    if (token.content.empty()) continue;
    const auto known = id_of(token.content);
    token.id = known ? *known : model.id_of(token.content).value_or(next);
    HEED_CHECK(token.id <= TokenTable::kMaxId,
               "[tokenizer] {} would have the id {}: the limit is {}", element.where(), token.id,
               TokenTable::kMaxId);
    next = std::max(next, token.id + 1);
    limit_ = std::max(limit_, token.id + 1);
    ids_.insert_or_assign(token.content, token.id);
    if (token.special) special_[token.content] = true;
    by_id_.insert_or_assign(token.id, tokens_.size());
    tokens_.push_back(std::move(token));
  }
  // Special tokens come first: of two equal texts the first is found.
  for (const bool special : {true, false}) {
    for (const AddedToken& token : tokens_) {
      if (token.special != special) continue;
      if (!token.normalized) {
        plain_.add(token.content, token.id);
        continue;
      }
      AlignedText content = AlignedText::of(token.content);
      if (normalizer != nullptr) normalizer->normalize(content);
      normalized_.add(content.text, token.id);
    }
  }
}

const AddedToken* AddedTokens::find(std::int32_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &tokens_[found->second];
}

std::optional<std::int32_t> AddedTokens::id_of(std::string_view content) const {
  const auto found = ids_.find(content);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

bool AddedTokens::is_special(std::int32_t id) const {
  const AddedToken* const token = find(id);
  return token != nullptr && special_.contains(token->content);
}

void AddedTokens::split_part(const AlignedText& part, const Finder& finder, Pieces& out) const {
  const std::string_view text = part.text;
  if (finder.ids.empty()) {
    out.add(part, 0, text.size());
    return;
  }
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::int32_t id = -1;
    const std::size_t length = finder.longest(text.substr(at), id);
    if (length == 0) {
      ++at;
      continue;
    }
    std::size_t begin = at, end = at + length;
    at = end;
    const AddedToken& token = *find(id);
    if (token.single_word && !stands_alone(text, begin, end)) continue;
    if (token.left_strip) begin = std::max(space_begin(text, begin), done);
    if (token.right_strip) end = space_end(text, end);
    if (begin < done) continue;  // the spaces that the token before it took
    out.add(part, done, begin);
    out.add(part, begin, end, id);
    done = end;
  }
  out.add(part, done, text.size());
}

Pieces AddedTokens::split(std::string_view text, const Normalizer* normalizer) const {
  Pieces plain;
  split_part(AlignedText::of(text), plain_, plain);
  if (normalizer == nullptr && normalized_.ids.empty()) return plain;
  Pieces made;
  made.all.text.reserve(plain.all.text.size());
  made.all.spans.reserve(plain.all.text.size());
  for (const Piece& piece : plain.pieces) {
    if (piece.token >= 0) {
      made.add(plain.all, piece.begin, piece.end, piece.token);
      continue;
    }
    AlignedText part = plain.all.slice(piece.begin, piece.end);
    if (normalizer != nullptr) normalizer->normalize(part);
    split_part(part, normalized_, made);
  }
  return made;
}

}  // namespace heed::pipeline
