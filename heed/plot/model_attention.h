// Computes the attention weights of a model for a text and labels them with tokens: for a
// translator with its translation, or a model of another task.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/generation/model_folder.h"
#include "heed/plot/attention_view.h"

namespace heed::plot {

/// The label of a token: its piece ("▁dog", "wor@@"), "<s>" for begin, "</s>" for end.
std::string token_label(const Tokenizer& tokenizer, std::int32_t id);

/// Encoder, decoder and cross-attention with which a translation of the text was written: the
/// weights of the hypothesis if it has them all, else those of one pass over its tokens. A row of
/// the decoder's and of cross-attention is the step that writes its token, as in alignments; the
/// decoder's columns are the tokens before it, begin first.
AttentionView attention_of(const Translator& translator, std::string_view text,
                           const Hypothesis& hypothesis);
/// The attention of a model of any task; a translator translates the text first, by that search or,
/// if none is given, by the one of its folder.
AttentionView attention_of(const LoadedModel& model, std::string_view text,
                           const std::optional<SearchOptions>& search = {});
/// Attention of a language model. Rows are the steps that generate each token of the text but the
/// first, and, as "…", the next token after the text.
AttentionView attention_of(const TextGenerator& generator, std::string_view text);
/// Attention of a classifier between the positions of the text; the result is the most probable
/// label.
AttentionView attention_of(const TextClassifier& classifier, std::string_view text);
/// Attention of a sentence encoder between the positions of the text.
AttentionView attention_of(const TextEmbedder& embedder, std::string_view text);
/// Attention of a model of masked tokens between the positions of the text; the result is the text
/// with the most probable tokens, if there are masked ones.
AttentionView attention_of(const TextFiller& filler, std::string_view text);

}  // namespace heed::plot
