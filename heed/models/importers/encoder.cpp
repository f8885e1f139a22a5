#include "heed/models/importers/encoder.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/io/value.h"
#include "heed/models/classifier.h"
#include "heed/models/importers/sentence_modules.h"
#include "heed/models/masked_model.h"
#include "heed/models/sentence_encoder.h"

namespace heed {
namespace {

bool has(const io::TensorSource& tensors, std::string_view name, std::string_view prefix) {
  return tensors.contains(name) || tensors.contains(fmt::format("{}{}", prefix, name));
}

// The task of a folder without the files of sentence-transformers.
Task task_of(const ForeignConfig& config, const io::TensorSource& tensors,
             const EncoderImport& family) {
  const bool is_masked = has(tensors, family.masked_tensor, family.names.prefix);
  const std::vector<std::string> names = config.texts("architectures");
  const std::string name = names.empty() ? "Model" : names[0];
  if (name.ends_with("ForSequenceClassification")) return Task::classify;
  // Some folders of bare models name the model that they were made from.
  if (name.ends_with("ForMaskedLM") || name.ends_with("ForPreTraining")) {
    return is_masked ? Task::fill : Task::embed;
  }
  HEED_CHECK(name.ends_with("Model"),
             "[import] {}: \"architectures\" is {}: of {}, heed reads …Model, …ForMaskedLM and "
             "…ForSequenceClassification",
             config.source(), io::in_quotes(name), config.text("model_type"));
  return names.empty() && is_masked ? Task::fill : Task::embed;
}

Import as_sentence_encoder(EncoderImport family, const SentenceModules& modules) {
  SentenceEncoderConfig model{.encoder = std::move(family.encoder),
                              .pooling = modules.pooling,
                              .normalize = modules.normalize,
                              .max_tokens = modules.max_tokens};
  if (modules.dense) {
    model.projection = modules.dense->out;
    model.projection_activation = modules.dense->activation;
    model.projection_bias = modules.dense->bias;
  }
  return {.model = import_choice<SentenceEncoder>(kSentenceEncoder, std::move(model)),
          .names = family.names};
}

Import as_classifier(const ForeignConfig& config, EncoderImport family) {
  std::vector<std::string> labels = import_labels(config);
  if (labels.empty()) {  // as in transformers
    for (std::int64_t i = 0; i < config.integer("num_labels", 2); ++i) {
      labels.push_back(fmt::format("LABEL_{}", i));
    }
  }
  ClassifierConfig model{.encoder = std::move(family.encoder),
                         .classes = std::ssize(labels),
                         .pooling = Pooling::first,
                         .head = family.classifier_head};
  return {.model = import_choice<Classifier>(kClassifier, std::move(model)),
          .names = family.names,
          .labels = std::move(labels)};
}

Import as_masked_model(const ForeignConfig& config, EncoderImport family) {
  MaskedModelConfig model{.encoder = std::move(family.encoder),
                          .head = family.masked_head,
                          .tied = config.boolean("tie_word_embeddings", true)};
  return {.model = import_choice<MaskedModel>(kMaskedModel, std::move(model)),
          .names = family.names};
}

}  // namespace

TextEncoderConfig import_bert_layers(const ForeignConfig& config) {
  return {
      .vocabulary = config.integer("vocab_size"),
      .layers = config.integer("num_hidden_layers"),
      .block = BlockConfig{.embed = config.integer("hidden_size"),
                           .heads = config.integer("num_attention_heads"),
                           .hidden = config.integer("intermediate_size"),
                           .norm = {.eps = config.number("layer_norm_eps", 1e-12)},
                           .activation = import_activation(config, "hidden_act", "gelu"),
                           .dropout = config.number("hidden_dropout_prob", 0.1),
                           .attention_dropout = config.number("attention_probs_dropout_prob", 0.1),
                           .activation_dropout = 0.0,
                           .attention = kEncoderAttention,
                           .positions = fmt::format("learned max_length={}",
                                                    config.integer("max_position_embeddings"))},
      .types = config.integer("type_vocab_size", 2),
      .scaled_embeddings = false,
      .embedding_norm = true};
}

Import import_encoder(const ForeignConfig& config, const io::TensorSource& tensors,
                      EncoderImport family) {
  config.expect("is_decoder", false);
  config.expect("add_cross_attention", false);
  config.expect("position_embedding_type", "absolute");
  const std::optional<SentenceModules> modules = read_sentence_modules(config.folder());
  if (modules) return as_sentence_encoder(std::move(family), *modules);
  switch (task_of(config, tensors, family)) {
    case Task::classify:
      return as_classifier(config, std::move(family));
    case Task::fill:
      return as_masked_model(config, std::move(family));
    default:
      return as_sentence_encoder(std::move(family), {});
  }
}

}  // namespace heed
