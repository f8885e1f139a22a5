// The numbered tokens behind word lists, BPE and characters: four special ones and the rest by
// frequency. Reading and writing lists: word_list.h. SentencePiece models have their own.
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

/// Lets maps of strings be asked with string_views.
struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

/// A map from strings.
template <typename T>
using StringMap = std::unordered_map<std::string, T, StringHash, std::equal_to<>>;

/// A token and how often it was seen.
struct TokenCount {
  std::string token;
  std::int64_t count = 0;

  friend bool operator==(const TokenCount&, const TokenCount&) = default;
};

/// Tokens with numbers from 0.
class Vocabulary {
 public:
  /// The special tokens alone.
  Vocabulary() : Vocabulary(std::vector<TokenCount>()) {}
  /// Tokens in order. If none of them has a special name the four special ones come before them;
  /// otherwise each keeps its place and the special ones that lack come behind them. A token twice,
  /// an empty one and one that is no UTF-8 are errors.
  explicit Vocabulary(std::vector<TokenCount> tokens);

  /// The number of tokens, special ones included.
  std::int64_t size() const { return static_cast<std::int64_t>(tokens_.size()); }
  /// The number of a token of text; unknown for others, special names too: no text can end a
  /// sentence by writing "</s>".
  std::int32_t id_of(std::string_view token) const;
  /// Whether a token of text is there.
  bool contains(std::string_view token) const { return ids_.contains(token); }
  /// The token of a number; one outside the vocabulary throws heed::Error.
  const std::string& token(std::int32_t id) const { return at(id).token; }
  /// How often the token was seen; 0 where nobody counted.
  std::int64_t count(std::int32_t id) const { return at(id).count; }
  const SpecialTokens& special() const { return special_; }
  /// Whether the token is begin, end or padding: what has no text.
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
  StringMap<std::int32_t> ids_;  // without the special ones
};

/// Which of the counted tokens a vocabulary gets.
struct VocabularyOptions {
  std::int64_t size = 0;
  std::int64_t min_count = 1;

  void fields(io::Fields& field) {
    field("size", size, "most tokens, the four special ones included; 0: all", {.min = 0});
    field("min_count", min_count, "tokens seen less often are left out", {.min = 1});
  }
};

/// Counts tokens and makes a vocabulary of them.
class TokenCounter {
 public:
  /// Counts a token once more. Special names and what is no UTF-8 never become tokens.
  void add(std::string_view token);
  /// The most frequent first; of equally frequent ones the lesser text (by bytes) first, so that
  /// the order of the files does not matter.
  Vocabulary vocabulary(const VocabularyOptions& options = {}) const;

 private:
  StringMap<std::int64_t> counts_;
};

}  // namespace heed
