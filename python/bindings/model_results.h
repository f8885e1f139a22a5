// The results of models in Python: generated texts, and attention weights.
#pragma once

#include <string>
#include <vector>

#include "heed/generation/hypothesis.h"
#include "heed/generation/translator.h"
#include "heed/plot/attention_view.h"
#include "heed/text/tokenizer.h"
#include "python/bindings/array.h"

namespace heed::python {

/// A text and its log-probability under the model.
struct Written {
  std::string text;
  std::vector<std::string> pieces;  ///< The tokens in readable form.
  Hypothesis hypothesis;
};

/// heed.Translation and heed.Continuation.
struct PyTranslation : Written {};
struct Continuation : Written {};

/// The text with the pieces of its tokens.
Written written(const Tokenizer& tokenizer, std::string text, Hypothesis hypothesis);

/// heed.Attention.
struct ModelAttention {
  plot::AttentionView view;
  std::vector<std::int64_t> source_words = {},
                            target_words = {};  ///< Words of the tokens, for alignments.
};

/// The attention weights with which a translator wrote a translation, or would write it.
ModelAttention attention_for(const Translator& translator, const std::string& source,
                             const Hypothesis& translation);

/// The config of a model as a dict.
nb::object model_config(const Model& model);

/// heed.Tokenizer.
struct PyTokenizer {
  std::shared_ptr<const Tokenizer> tokenizer;
};

void bind_tokenizer(nb::module_& m);
void bind_model_results(nb::module_& m);
void bind_text_models(nb::module_& m);
void bind_encoders(nb::module_& m);
void bind_picture_models(nb::module_& m);
void bind_sequence_models(nb::module_& m);
void bind_question_models(nb::module_& m);

}  // namespace heed::python
