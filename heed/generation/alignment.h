// Word alignments read from attention weights [T, S]: row t holds the weights of the source tokens
// for target token t, usually the mean over the heads of a layer. Soft alignments are the weights,
// hard ones a list of links. Both can be converted from tokens to words. Text forms:
//   Pharaoh  "0-0 1-2 2-1": source-target, counted from 0
//   soft     "0.9,0.1 0.2,0.8": target tokens between spaces, weights of source tokens between
//   commas
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/tensor/tensor.h"
#include "heed/text/tokenizer.h"

namespace heed {

struct AlignmentLink {
  std::int64_t source = 0;
  std::int64_t target = 0;
  friend bool operator==(const AlignmentLink&, const AlignmentLink&) = default;
};

/// Links ordered by source, then by target, none twice.
using Alignment = std::vector<AlignmentLink>;

/// The number of special tokens at the ends of a source and of a result, which no alignment links.
struct AlignmentEdges {
  std::int64_t source_before = 0;
  std::int64_t source_after = 1;
  std::int64_t target_before = 0;
  std::int64_t target_after = 1;
};

struct HardAlignmentOptions {
  /// If unset: the source with the largest weight for each target, the first among equals. If set:
  /// all sources with at least this weight.
  std::optional<double> threshold = {};
  /// Of those, only links whose target has the largest weight for the source.
  bool mutual = false;
};

/// The links for weights [T, S].
Alignment hard_alignment(const Tensor& weights, const HardAlignmentOptions& options = {});

/// The word number of a token that belongs to no word, such as the end token.
inline constexpr std::int64_t kNoWord = -1;

/// The word that each of `tokens` tokens belongs to, or kNoWord; `words` are as word_spans() (text)
/// finds them.
std::vector<std::int64_t> word_numbers(std::span<const WordSpan> words, std::size_t tokens);

/// The words of the tokens of both sides.
struct WordMap {
  std::span<const std::int64_t> source;  ///< [S], from word_numbers.
  std::span<const std::int64_t> target;  ///< [T]
};

/// The links between the words of linked tokens.
Alignment merge_words(const Alignment& links, const WordMap& words);
/// The weights of words [target words, source words]: the sum over the tokens of a source word, the
/// mean over the tokens of a target word.
Tensor merge_words(const Tensor& weights, const WordMap& words);

/// Pharaoh text; evaluation/alignment.h reads it.
std::string to_pharaoh(const Alignment& alignment);
/// Weights [T, S] as text.
std::string to_soft_text(const Tensor& weights);

}  // namespace heed
