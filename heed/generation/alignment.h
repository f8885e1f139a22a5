// Which source words a result's words come from, read off attention weights [T, S]: row t says how
// much target token t looked at each source token (as a rule the mean over the heads of a layer).
// Soft alignments are the weights, hard ones a list of links; both go from tokens to words. Texts:
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

struct HardAlignmentOptions {
  /// Without: each target's heaviest source, the first among equals. With: all of at least that
  /// weight.
  std::optional<double> threshold = {};
  /// Of those, only links whose target is the one that gives the source its heaviest weight.
  bool mutual = false;
};

/// The links that weights [T, S] stand for.
Alignment hard_alignment(const Tensor& weights, const HardAlignmentOptions& options = {});

/// The number of a token that belongs to no word, such as the end token.
inline constexpr std::int64_t kNoWord = -1;

/// The word that each of so many tokens belongs to, given the words as word_spans() (text) finds
/// them, or kNoWord.
std::vector<std::int64_t> word_numbers(std::span<const WordSpan> words, std::size_t tokens);

/// The words of the tokens on both sides.
struct WordMap {
  std::span<const std::int64_t> source;  ///< [S], as word_numbers gives them.
  std::span<const std::int64_t> target;  ///< [T]
};

/// Links between the words of linked tokens.
Alignment merge_words(const Alignment& links, const WordMap& words);
/// Weights of words [target words, source words]: a source word has the sum over its tokens, a
/// target word the mean over its own.
Tensor merge_words(const Tensor& weights, const WordMap& words);

/// Read back by evaluation/alignment.h.
std::string to_pharaoh(const Alignment& alignment);
/// Weights [T, S] as text.
std::string to_soft_text(const Tensor& weights);

}  // namespace heed
