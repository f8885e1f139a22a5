// The models of tokenizer.json: they split one word into tokens. BPE, WordPiece, Unigram and
// WordLevel are in files of their own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "heed/text/pipeline/json_node.h"
#include "heed/text/pipeline/token_table.h"

namespace heed::pipeline {

/// A token of a word and the bytes [begin, end) of the word that it stands for.
struct Subword {
  std::int32_t id = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  friend bool operator==(const Subword&, const Subword&) = default;
};

/// How the tokens of a model show where words begin.
struct WordMarks {
  std::string_view prefix;  ///< Of tokens that continue a word: "##".
  std::string_view suffix;  ///< Of tokens that end a word: "</w>".
};

/// The interface of models. They are immutable; caches inside are guarded.
class SubwordModel {
 public:
  explicit SubwordModel(TokenTable tokens) : tokens_(std::move(tokens)) {}
  virtual ~SubwordModel() = default;

  /// Appends the tokens of a word, which must be valid UTF-8 and not empty.
  virtual void tokenize(std::string_view word, std::vector<Subword>& out) const = 0;
  /// The token of text that is not in the vocabulary.
  virtual std::optional<std::int32_t> unknown() const = 0;
  virtual WordMarks marks() const { return {}; }

  const TokenTable& tokens() const { return tokens_; }

 private:
  TokenTable tokens_;
};

/// Reads the section "model". An unknown type throws heed::Error.
std::unique_ptr<const SubwordModel> read_model(const JsonNode& node);

}  // namespace heed::pipeline
