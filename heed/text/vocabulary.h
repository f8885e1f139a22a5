// The vocabulary of the word, BPE and character tokenizers: four special tokens, and the others by
// frequency. word_list.h reads and writes lists. SentencePiece models have their own vocabulary.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heed/io/fields.h"
#include "heed/text/tokenizer.h"

namespace heed {

/// The names of the special tokens: unknown, begin, end, padding.
inline constexpr std::array<std::string_view, 4> kSpecialNames = {"<unk>", "<s>", "</s>", "<pad>"};

/// A hash that allows lookup of string_views in maps of strings.
struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

/// A map with string keys.
template <typename T>
using StringMap = std::unordered_map<std::string, T, StringHash, std::equal_to<>>;

/// A token and its count.
struct TokenCount {
  std::string token;
  std::int64_t count = 0;

  friend bool operator==(const TokenCount&, const TokenCount&) = default;
};

/// Tokens with ids from 0.
class Vocabulary {
 public:
  /// Only the special tokens.
  Vocabulary() : Vocabulary(std::vector<TokenCount>()) {}
  /// Tokens in the order of their ids. If none of them has a special name, the four special tokens
  /// are put before them; otherwise each keeps its place and missing special tokens are appended.
  /// Duplicate tokens, empty tokens and tokens that are not UTF-8 are errors.
  explicit Vocabulary(std::vector<TokenCount> tokens);

  /// The number of tokens, including special ones.
  std::int64_t size() const { return static_cast<std::int64_t>(tokens_.size()); }
  /// The id of a token of text, or the unknown token. Special names are unknown too, so that a text
  /// cannot end a sentence by containing "</s>".
  std::int32_t id_of(std::string_view token) const;
  /// True if the vocabulary has this token of text.
  bool contains(std::string_view token) const { return ids_.contains(token); }
  /// The token of an id; an id outside the vocabulary throws heed::Error.
  const std::string& token(std::int32_t id) const { return at(id).token; }
  /// The count of the token; 0 if there are no counts.
  std::int64_t count(std::int32_t id) const { return at(id).count; }
  const SpecialTokens& special() const { return special_; }
  /// True for begin, end and padding, which have no text.
  bool is_silent(std::int32_t id) const {
    return id == special_.begin || id == special_.end || id == special_.padding;
  }
  /// All tokens in order.
  std::span<const TokenCount> tokens() const { return tokens_; }

  friend bool operator==(const Vocabulary& a, const Vocabulary& b) {
    return a.tokens_ == b.tokens_;
  }

 private:
  const TokenCount& at(std::int32_t id) const;
  void place_special();

  std::vector<TokenCount> tokens_;
  SpecialTokens special_;
  StringMap<std::int32_t> ids_;  // without special tokens
};

/// Selects the tokens of a vocabulary by count.
struct VocabularyOptions {
  std::int64_t size = 0;
  std::int64_t min_count = 1;

  void fields(io::Fields& field) {
    field("size", size, "maximum number of tokens, including the four special ones; 0: all",
          {.min = 0});
    field("min_count", min_count, "tokens with a smaller count are left out", {.min = 1});
  }
};

/// Counts tokens and makes a vocabulary.
class TokenCounter {
 public:
  /// Adds one to the count of a token. Special names and invalid UTF-8 are ignored.
  void add(std::string_view token);
  /// The vocabulary, most frequent tokens first. Equally frequent tokens are sorted by bytes, so
  /// that the order of the files does not matter.
  Vocabulary vocabulary(const VocabularyOptions& options = {}) const;

 private:
  StringMap<std::int64_t> counts_;
};

}  // namespace heed
