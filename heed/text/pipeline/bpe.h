// Byte pair encoding as in tokenizer.json (Sennrich et al. 2016, https://arxiv.org/abs/1508.07909):
// the characters of a word are merged pair by pair, the pair with the lowest rank first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/pipeline/flat_map.h"
#include "heed/text/pipeline/subword_model.h"
#include "heed/text/pipeline/word_cache.h"

namespace heed::pipeline {

/// A BPE model. Dropout of merges is for training and is ignored.
class Bpe final : public SubwordModel {
 public:
  explicit Bpe(const JsonNode& node);

  void tokenize(std::string_view word, std::vector<Subword>& out) const override;
  std::optional<std::int32_t> unknown() const override { return unknown_; }
  WordMarks marks() const override { return {prefix_, suffix_}; }

 private:
  struct Merge {
    std::uint32_t rank = 0;
    std::int32_t id = -1;
  };
  struct Symbol {
    std::int32_t id = 0;
    std::uint32_t bytes = 0;
    std::int32_t before = -1, after = -1;
  };

  void read_merges(const JsonNode& node);
  void add_merge(std::string_view left, std::string_view right, std::uint32_t rank,
                 const JsonNode& node, FlatMap<Merge>& merges) const;
  std::vector<Symbol> symbols_of(std::string_view word) const;
  bool add_bytes(std::string_view text, std::vector<Symbol>& symbols) const;
  const Merge* merge_of(const Symbol& left, const Symbol& right) const {
    return merges_.find(static_cast<std::uint64_t>(static_cast<std::uint32_t>(left.id)) << 32 |
                        static_cast<std::uint32_t>(right.id));
  }
  void merge_short(std::vector<Symbol>& symbols) const;
  void merge_long(std::vector<Symbol>& symbols) const;

  FlatMap<Merge> merges_;
  std::optional<std::int32_t> unknown_;
  std::vector<std::int32_t> byte_ids_;  // of "<0x00>" …; empty without byte fallback
  std::string prefix_, suffix_;
  bool fuse_unknown_ = false;
  bool ignore_merges_ = false;
  WordCache cache_;
};

/// The tokens "<0x00>" to "<0xFF>" that stand for bytes; -1 where there is none.
std::vector<std::int32_t> byte_tokens(const TokenTable& tokens);

}  // namespace heed::pipeline
