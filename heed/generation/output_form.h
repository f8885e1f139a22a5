// The text that a filter writes for a translated sentence:
//   the text                                   a line for each sentence; then, between tabs,
//   the score                                  with_score: log p by the length penalty
//   the alignment                              hard: "0-0 1-2" (Pharaoh); soft: alignment.h
// or, with n_best, a line for each result as Moses writes them, which has all scores:
//   number ||| text ||| logprob= log p ||| score [||| alignment]
// Scores and alignments come from the pass that translated the sentence.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "heed/generation/translation_filter.h"
#include "heed/io/fields.h"

namespace heed {

enum class AlignmentForm : std::uint8_t { none, hard, soft };
enum class AlignmentUnit : std::uint8_t {
  words,   // separated by white space
  tokens,  // of the vocabularies
};

/// The names that configs use.
constexpr std::array<io::EnumName<AlignmentForm>, 3> enum_names(AlignmentForm) {
  return {{{AlignmentForm::none, "none"},
           {AlignmentForm::hard, "hard"},
           {AlignmentForm::soft, "soft"}}};
}
constexpr std::array<io::EnumName<AlignmentUnit>, 2> enum_names(AlignmentUnit) {
  return {{{AlignmentUnit::words, "words"}, {AlignmentUnit::tokens, "tokens"}}};
}

struct OutputForm {
  bool with_score = false;
  AlignmentForm alignment = AlignmentForm::none;
  AlignmentUnit alignment_unit = AlignmentUnit::words;
  std::optional<std::int64_t> alignment_layer = {};  // layer of the decoder, from 1; none: all

  void fields(io::Fields& field);
};

/// The lines of one sentence, each with its line end. Line breaks in a text become spaces, and so
/// do tabs where they separate columns. `search` has n_best and the length penalty.
std::string output_lines(const Translator& translator, const Translated& translated,
                         const OutputForm& form, const SearchOptions& search);

/// The alignment of one result as text. Soft alignments of tokens have the end tokens as last row
/// and column, and languages; all others omit these.
std::string alignment_text(const Translator& translator, std::span<const std::int32_t> source,
                           const Hypothesis& hypothesis, const OutputForm& form);

/// The attention weights that translations must keep for this form (TranslateOptions::observed).
ObservedWeights observed_for(const OutputForm& form);

}  // namespace heed
