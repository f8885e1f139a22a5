// The added tokens of tokenizer.json: texts that are found before the model sees the text, such as
// "[MASK]" or "<|im_start|>".
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heed/text/pipeline/aligned_text.h"
#include "heed/text/pipeline/json_node.h"
#include "heed/text/pipeline/normalizer.h"
#include "heed/text/pipeline/token_table.h"
#include "heed/text/vocabulary.h"

namespace heed::pipeline {

/// One added token.
struct AddedToken {
  std::string content;
  std::int32_t id = 0;
  bool single_word = false;  ///< Found only between characters that are not part of words.
  bool left_strip = false;   ///< White space before it belongs to it.
  bool right_strip = false;  ///< White space after it belongs to it.
  bool normalized = false;   ///< Found in the normalised text.
  bool special = false;      ///< Stands for no text.
};

/// The added tokens of a tokenizer.
class AddedTokens {
 public:
  AddedTokens() = default;
  /// Reads the list "added_tokens". A token of the model keeps its id; the others follow the
  /// vocabulary in order. `normalizer` may be null.
  AddedTokens(const JsonNode& node, const TokenTable& model, const Normalizer* normalizer);

  /// Finds the tokens in a text, normalises what is between them and finds tokens there.
  Pieces split(std::string_view text, const Normalizer* normalizer) const;

  /// The added token with an id, or null.
  const AddedToken* find(std::int32_t id) const;
  std::optional<std::int32_t> id_of(std::string_view content) const;
  /// True if a token stands for no text.
  bool is_special(std::int32_t id) const;
  const std::vector<AddedToken>& tokens() const { return tokens_; }
  /// One more than the greatest id; 0 without tokens.
  std::int32_t limit() const { return limit_; }

 private:
  // A set of texts of which the longest at each place is found.
  struct Finder {
    StringMap<std::int32_t> ids;
    std::array<std::vector<std::uint32_t>, 256> lengths;  // by first byte, longest first

    void add(std::string_view text, std::int32_t id);
    // The length of the longest text at the front, or 0; its id.
    std::size_t longest(std::string_view text, std::int32_t& id) const;
  };

  void split_part(const AlignedText& part, const Finder& finder, Pieces& out) const;

  std::vector<AddedToken> tokens_;
  std::unordered_map<std::int32_t, std::size_t> by_id_;
  StringMap<std::int32_t> ids_;
  StringMap<bool> special_;
  Finder plain_, normalized_;
  std::int32_t limit_ = 0;
};

}  // namespace heed::pipeline
