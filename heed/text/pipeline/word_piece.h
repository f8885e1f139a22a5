// WordPiece (Schuster and Nakajima 2012), the longest token first, as BERT uses it; and WordLevel,
// whole words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/pipeline/prefix_trie.h"
#include "heed/text/pipeline/subword_model.h"

namespace heed::pipeline {

/// A WordPiece model. A word that it cannot split completely is one unknown token.
class WordPiece final : public SubwordModel {
 public:
  explicit WordPiece(const JsonNode& node);

  void tokenize(std::string_view word, std::vector<Subword>& out) const override;
  std::optional<std::int32_t> unknown() const override { return unknown_; }
  WordMarks marks() const override { return {prefix_, ""}; }

 private:
  std::string prefix_, unknown_text_;
  std::int64_t longest_ = 100;  // in characters
  std::optional<std::int32_t> unknown_;
  PrefixTrie first_, other_;  // tokens at the beginning of a word, and after it without prefix
};

/// A model of whole words.
class WordLevel final : public SubwordModel {
 public:
  explicit WordLevel(const JsonNode& node);

  void tokenize(std::string_view word, std::vector<Subword>& out) const override;
  std::optional<std::int32_t> unknown() const override { return unknown_; }

 private:
  std::string unknown_text_;
  std::optional<std::int32_t> unknown_;
};

}  // namespace heed::pipeline
