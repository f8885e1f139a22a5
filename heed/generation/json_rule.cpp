#include "heed/generation/json_rule.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "heed/base/error.h"
#include "heed/text/decode_stream.h"

namespace heed {
namespace {

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }
bool is_space(char byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }

// The text of each token after other text; "" for special ones.
std::vector<std::string> token_texts(const Tokenizer& tokenizer) {
  // A decoder may drop a space at the start of a text.
  std::vector<std::int32_t> tokens = tokenizer.encode("a");
  const std::string before = tokenizer.decode(tokens);
  tokens.push_back(0);
  std::vector<std::string> texts;
  for (std::int32_t token = 0; token < tokenizer.size(); ++token) {
    tokens.back() = token;
    const std::string text = tokenizer.decode(tokens);
    texts.push_back(text.starts_with(before) ? text.substr(before.size()) : "");
  }
  return texts;
}

// The texts of a vocabulary, and where a text began.
struct JsonVocabulary {
  std::vector<std::string> texts;
  DecodeStream begun;

  JsonReader read(std::span<const std::int32_t> tokens) const {
    DecodeStream stream = begun;
    JsonReader reader;
    for (const std::int32_t token : tokens) reader.add(stream.add(token));
    return reader;
  }
};

}  // namespace

bool JsonReader::add(std::string_view bytes) {
  return std::ranges::all_of(bytes, [&](char byte) { return add(byte); });
}

bool JsonReader::add(char byte) {
  if (is_complete_) return false;
  switch (expected_) {
    case Expected::character:
    case Expected::escape:
    case Expected::hex_digit:
      return continue_string(byte);
    case Expected::digit:
    case Expected::more_digits:
      return continue_number(byte);
    case Expected::letter:
      if (byte != word_.front()) return false;
      word_.remove_prefix(1);
      if (word_.empty()) expected_ = Expected::next;
      return true;
    default:
      break;
  }
  if (is_space(byte)) return ++spaces_ <= kMaxSpaces;
  spaces_ = 0;
  switch (expected_) {
    case Expected::object:
      return byte == '{' && open(byte);
    case Expected::first_key:
      if (byte == '}') return close(byte);
      [[fallthrough]];
    case Expected::key:
      is_key_ = true;
      expected_ = Expected::character;
      return byte == '"';
    case Expected::colon:
      expected_ = Expected::value;
      return byte == ':';
    case Expected::first_element:
      return byte == ']' ? close(byte) : begin_value(byte);
    case Expected::next:
      if (byte != ',') return close(byte);
      expected_ = is_in_array() ? Expected::value : Expected::key;
      return true;
    default:
      return begin_value(byte);
  }
}

bool JsonReader::begin_value(char byte) {
  if (byte == '{' || byte == '[') return open(byte);
  if (byte == '"') {
    is_key_ = false;
    expected_ = Expected::character;
    return true;
  }
  if (byte == '-' || is_digit(byte)) {
    part_ = byte == '0' ? Part::zero : Part::integer;
    expected_ = byte == '-' ? Expected::digit : Expected::more_digits;
    return true;
  }
  for (const std::string_view word : {"true", "false", "null"}) {
    if (byte != word.front()) continue;
    word_ = word.substr(1);
    expected_ = Expected::letter;
    return true;
  }
  return false;
}

bool JsonReader::open(char byte) {
  if (depth_ == kMaxNesting) return false;
  const std::uint64_t bit = std::uint64_t{1} << depth_++;
  is_array_ = byte == '[' ? is_array_ | bit : is_array_ & ~bit;
  expected_ = byte == '[' ? Expected::first_element : Expected::first_key;
  return true;
}

bool JsonReader::close(char byte) {
  if (byte != (is_in_array() ? ']' : '}')) return false;
  is_complete_ = --depth_ == 0;
  expected_ = Expected::next;
  return true;
}

bool JsonReader::continue_string(char byte) {
  constexpr std::string_view kEscapes = "\"\\/bfnrt";
  constexpr std::string_view kHex = "0123456789abcdefABCDEF";
  switch (expected_) {
    case Expected::escape:
      left_ = 4;
      expected_ = byte == 'u' ? Expected::hex_digit : Expected::character;
      return byte == 'u' || kEscapes.find(byte) != kEscapes.npos;
    case Expected::hex_digit:
      if (--left_ == 0) expected_ = Expected::character;
      return kHex.find(byte) != kHex.npos;
    default:
      break;
  }
  if (byte == '\\') expected_ = Expected::escape;
  if (byte == '"') expected_ = is_key_ ? Expected::colon : Expected::next;
  return static_cast<unsigned char>(byte) >= 0x20;
}

bool JsonReader::continue_number(char byte) {
  if (expected_ == Expected::digit) {
    if (std::exchange(may_sign_, false) && (byte == '+' || byte == '-')) return true;
    if (part_ == Part::integer && byte == '0') part_ = Part::zero;
    expected_ = Expected::more_digits;
    return is_digit(byte);
  }
  if (is_digit(byte)) return part_ != Part::zero;
  if (byte == '.' && (part_ == Part::zero || part_ == Part::integer)) {
    part_ = Part::fraction;
    expected_ = Expected::digit;
    return true;
  }
  if ((byte == 'e' || byte == 'E') && part_ != Part::exponent) {
    part_ = Part::exponent;
    may_sign_ = true;
    expected_ = Expected::digit;
    return true;
  }
  expected_ = Expected::next;
  return add(byte);
}

JsonRule require_json(const Tokenizer& tokenizer, std::span<const std::int32_t> prompt) {
  const auto vocabulary = std::make_shared<JsonVocabulary>(
      JsonVocabulary{.texts = token_texts(tokenizer), .begun = DecodeStream(tokenizer)});
  for (const std::int32_t token : prompt) vocabulary->begun.add(token);
  for (const char* const needed : {"{", "}", "\"", ":"}) {
    HEED_CHECK(std::ranges::count(vocabulary->texts, needed) > 0,
               "[generate] the vocabulary has no token {}: the model cannot write JSON", needed);
  }
  const auto rule = [vocabulary](std::span<const std::int32_t> prefix,
                                 std::vector<std::int32_t>& banned) {
    const JsonReader reader = vocabulary->read(prefix);
    for (std::size_t token = 0; token < vocabulary->texts.size(); ++token) {
      const std::string& text = vocabulary->texts[token];
      JsonReader next = reader;
      if (text.empty() || !next.add(text)) banned.push_back(static_cast<std::int32_t>(token));
    }
  };
  const auto stop = [vocabulary](std::span<const std::int32_t> tokens) {
    return vocabulary->read(tokens).is_complete();
  };
  return {.rule = rule, .stop = stop};
}

}  // namespace heed
