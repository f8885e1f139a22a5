// The merges that subword-nmt learned (Sennrich et al. 2016, https://arxiv.org/abs/1508.07909) and
// their application to a word: of all adjacent pairs of symbols, the one that was learned first is
// merged everywhere in the word, until no known pair is left. heed does not learn BPE codes; it
// trains SentencePiece models instead.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heed/text/vocabulary.h"

namespace heed {

/// A file of BPE codes: the header "#version: 0.2", then one pair of symbols per line. Without the
/// header it has version 0.1, in which the end of a word is a separate symbol.
class BpeCodes {
 public:
  /// Reads the text of a file; `source` names it in messages, which give the line.
  static BpeCodes parse(std::string_view text, std::string_view source);

  /// The parts of a word, in order, as views into it. A code point that occurs in no merge is a
  /// part, and so is a byte that is not UTF-8.
  std::vector<std::string_view> segment(std::string_view word) const;

  /// Returns whether a part is allowed; `is_last` is true for the last part of a word.
  using Allowed = std::function<bool(std::string_view part, bool is_last)>;
  /// The same, but merges that made a part that is not allowed are undone as far as possible.
  std::vector<std::string_view> segment(std::string_view word, const Allowed& allowed) const;

  /// The number of merges.
  std::int64_t size() const { return static_cast<std::int64_t>(merges_.size()); }
  /// The lines that parse() read, including the header.
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  struct Symbols;
  struct Merge {
    std::int32_t rank;
    std::int32_t symbol;  // the merged symbol
  };
  struct Parts {
    std::string left;
    std::string right;
  };

  std::int32_t intern(std::string_view symbol);
  std::int32_t find_symbol(std::string_view symbol) const;
  const Merge* find_merge(std::int32_t left, std::int32_t right) const;
  void add(std::string_view left, std::string_view right);
  Symbols symbols_of(std::string_view word) const;
  void merge_all(Symbols& symbols) const;
  void split(std::string_view part, bool is_last, const Allowed& allowed,
             std::vector<std::string_view>& into) const;

  std::vector<std::string> lines_;
  bool end_is_symbol_ = false;  // version 0.1
  StringMap<std::int32_t> symbols_;
  std::unordered_map<std::uint64_t, Merge> merges_;
  StringMap<Parts> parts_;  // by the merged text
};

}  // namespace heed
