// What a model attends to over a text, as pictures show it: a translator with its translation, a
// language model, a classifier. The model does the work; here its weights get their tokens.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/generation/model_folder.h"
#include "heed/plot/attention_view.h"

namespace heed::plot {

/// A token as pictures show it: its piece ("▁dog", "wor@@"), "<s>" for begin, "</s>" for end.
std::string token_label(const Tokenizer& tokenizer, std::int32_t id);

/// Encoder, decoder and cross-attention with which a translation of the text was written: the
/// weights of the hypothesis if it has them all, else those of one pass over its tokens. A row of
/// the decoder's and of cross-attention is the step that writes its token, as in alignments; the
/// decoder's columns are the tokens before it, begin first.
AttentionView attention_of(const Translator& translator, std::string_view text,
                           const Hypothesis& hypothesis);
/// The attention of a model of any task; a translator translates the text first.
AttentionView attention_of(const LoadedModel& model, std::string_view text,
                           const SearchOptions& search = {});
/// How a language model attends to the tokens before when it writes each token of the text but the
/// first, and, "…", the one after it.
AttentionView attention_of(const TextGenerator& generator, std::string_view text);
/// How the positions of the text attend to each other; the result is the likeliest label.
AttentionView attention_of(const TextClassifier& classifier, std::string_view text);

}  // namespace heed::plot
