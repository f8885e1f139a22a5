#include "heed/generation/output_form.h"

#include <fmt/format.h>

#include <algorithm>

#include "heed/base/error.h"
#include "heed/generation/alignment.h"
#include "heed/generation/examine.h"

namespace heed {
namespace {

// The tokens of a vocabulary of bytes or characters may end a line or a column.
std::string one_line(std::string text, bool has_columns) {
  std::replace_if(
      text.begin(), text.end(),
      [&](char c) { return c == '\n' || c == '\r' || (has_columns && c == '\t'); }, ' ');
  return text;
}

std::string n_best_lines(const Translator& translator, const Translated& translated,
                         const OutputForm& form) {
  std::string lines;
  for (const Translation& result : translated.found) {
    const Hypothesis& numbers = result.hypothesis;
    lines += fmt::format("{} ||| {} ||| logprob= {:.4f} ||| {:.4f}", translated.number,
                         one_line(result.text, false), numbers.log_probability, numbers.score);
    if (form.alignment != AlignmentForm::none) {
      lines += " ||| ";
      lines += alignment_text(translator, translated.source, numbers, form);
    }
    lines += '\n';
  }
  return lines;
}

}  // namespace

void OutputForm::fields(io::Fields& field) {
  field("with_score", with_score, "a column with the score: log p divided by the length penalty");
  field("alignment", alignment, "a column of links (0-0 1-2) or of weights (0.9,0.1 0.2,0.8)");
  field("alignment_unit", alignment_unit, "unit of alignments");
  field("alignment_layer", alignment_layer,
        "decoder layer whose weights give alignments; none: all layers together", {.min = 1});
}

std::string output_lines(const Translator& translator, const Translated& translated,
                         const OutputForm& form, const SearchOptions& search) {
  if (search.n_best > 1) return n_best_lines(translator, translated, form);
  const bool has_columns = form.with_score || form.alignment != AlignmentForm::none;
  const Translation result = translated.found.empty() ? Translation{} : translated.found[0];
  std::string line = one_line(result.text, has_columns);
  if (form.with_score) {
    line += fmt::format("\t{:.4f}", result.hypothesis.score);
  }
  if (form.alignment != AlignmentForm::none) {
    line += '\t';
    line += alignment_text(translator, translated.source, result.hypothesis, form);
  }
  line += '\n';
  return line;
}

ObservedWeights observed_for(const OutputForm& form) {
  return form.alignment == AlignmentForm::none ? ObservedWeights::none : ObservedWeights::cross;
}

std::string alignment_text(const Translator& translator, std::span<const std::int32_t> tokens_read,
                           const Hypothesis& hypothesis, const OutputForm& form) {
  const std::vector<std::int32_t>& tokens = hypothesis.tokens;
  if (translator.is_empty(tokens_read) || tokens.empty()) return "";
  HEED_CHECK(hypothesis.weights,
             "[alignment] the translation was not observed: set TranslateOptions::observed");
  const bool of_words = form.alignment_unit == AlignmentUnit::words;
  const Tensor all = source_attention(*hypothesis.weights, form.alignment_layer);  // [T + 1, S]
  if (form.alignment == AlignmentForm::soft && !of_words) return to_soft_text(all);
  // The end tokens are not words. A token that attends most to the end token is linked to the word
  // that it attends to most.
  const AlignmentEdges edges = edges_of(translator, hypothesis);
  const Tensor inner = without_ends(all, edges);  // [T, S - 1]
  const auto source = tokens_read.subspan(static_cast<std::size_t>(edges.source_before),
                                          static_cast<std::size_t>(inner.size(1)));
  const auto target = std::span(tokens).subspan(static_cast<std::size_t>(edges.target_before));
  const auto source_words = word_numbers(word_spans(*translator.source(), source), source.size());
  const auto target_words = word_numbers(word_spans(*translator.target(), target), target.size());
  const WordMap words{source_words, target_words};
  if (form.alignment == AlignmentForm::soft) return to_soft_text(merge_words(inner, words));
  const Alignment links = hard_alignment(inner);
  return to_pharaoh(of_words ? merge_words(links, words) : links);
}

}  // namespace heed
