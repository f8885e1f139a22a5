// Computes the attention weights of a model for a text and labels them with tokens: for a
// translator with its translation, a language model or a classifier.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/generation/text_model.h"
#include "heed/generation/translator.h"
#include "heed/plot/attention_view.h"

namespace heed::plot {

/// The label of a token: its piece ("▁dog", "wor@@"), "<s>" for begin, "</s>" for end.
std::string token_label(const Tokenizer& tokenizer, std::int32_t id);

/// Encoder, decoder and cross-attention of a translator for a text and its translation `target`,
/// which has neither begin nor end token. A row of decoder and cross-attention is the step that
/// generates its token, as in alignments; the columns of decoder attention are the tokens before
/// it, with begin first.
AttentionView attention_of(const Translator& translator, std::string_view text,
                           std::span<const std::int32_t> target);
/// Attention of a language model. Rows are the steps that generate each token of the text but the
/// first, and, as "…", the next token after the text.
AttentionView attention_of(const TextGenerator& generator, std::string_view text);
/// Attention of a classifier between the positions of the text; the result is the most probable
/// label.
AttentionView attention_of(const TextClassifier& classifier, std::string_view text);

}  // namespace heed::plot
