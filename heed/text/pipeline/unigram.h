// The unigram language model of subwords (Kudo 2018, https://arxiv.org/abs/1804.10959) as in
// tokenizer.json: of all ways to split a word, the one with the greatest sum of scores.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "heed/text/pipeline/prefix_trie.h"
#include "heed/text/pipeline/subword_model.h"
#include "heed/text/pipeline/word_cache.h"

namespace heed::pipeline {

/// A unigram model.
class Unigram final : public SubwordModel {
 public:
  explicit Unigram(const JsonNode& node);

  /// A character that no token has throws heed::Error if the model has no unknown token.
  void tokenize(std::string_view word, std::vector<Subword>& out) const override;
  std::optional<std::int32_t> unknown() const override { return unknown_; }

 private:
  struct Vocab {
    TokenTable tokens;
    std::vector<double> scores;
  };
  static Vocab read_vocab(const JsonNode& node);
  Unigram(const JsonNode& node, Vocab vocab);
  std::vector<Subword> best_path(std::string_view word) const;
  void add_text(std::string_view word, std::uint32_t begin, std::uint32_t end,
                std::vector<Subword>& out) const;

  std::vector<double> scores_;
  PrefixTrie trie_;
  std::optional<std::int32_t> unknown_;
  double unknown_score_ = 0;
  std::vector<std::int32_t> byte_ids_;  // empty without byte fallback
  WordCache cache_;
};

}  // namespace heed::pipeline
