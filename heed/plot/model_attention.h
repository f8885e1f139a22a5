// What a model attends to over a text, as pictures show it: a translator with its translation, a
// language model, a classifier. The model does the work; here its weights get their tokens.
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

/// A token as pictures show it: its piece ("▁dog", "wor@@"), "<s>" for begin, "</s>" for end.
std::string token_label(const Tokenizer& tokenizer, std::int32_t id);

/// Encoder, decoder and cross-attention when that target, which has neither begin nor end token, is
/// written for the text. A row of the decoder's and of cross-attention is the step that writes its
/// token, as in alignments; the decoder's columns are the tokens before it, begin first.
AttentionView attention_of(const Translator& translator, std::string_view text,
                           std::span<const std::int32_t> target);
/// How a language model attends to the tokens before when it writes each token of the text but the
/// first, and, "…", the one behind it.
AttentionView attention_of(const TextGenerator& generator, std::string_view text);
/// How the positions of the text attend to each other; the result is the likeliest label.
AttentionView attention_of(const TextClassifier& classifier, std::string_view text);

}  // namespace heed::plot
