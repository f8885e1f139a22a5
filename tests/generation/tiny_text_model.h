// Models of letters for each task, untrained, for tests.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "heed/generation/text_model.h"
#include "heed/models/classifier.h"
#include "heed/models/language_model.h"
#include "heed/models/masked_model.h"
#include "heed/models/sentence_encoder.h"
#include "tests/generation/tiny_translator.h"

namespace heed::test {

inline TextGenerator tiny_generator(const std::string& positions = "learned max_length=16") {
  const auto tokenizer = letters();
  Generator random(2);
  LanguageModelConfig config{.vocabulary = tokenizer->size(), .layers = 2};
  config.block.embed = 16;
  config.block.heads = 2;
  config.block.dropout = 0.1;
  config.block.positions = positions;
  auto model = std::make_unique<LanguageModel>(config, random);
  model->eval();
  return {std::move(model), tokenizer};
}

inline TextEncoderConfig tiny_encoder(std::int64_t vocabulary) {
  TextEncoderConfig config{.vocabulary = vocabulary, .layers = 1};
  config.block.embed = 16;
  config.block.heads = 2;
  config.block.hidden = 20;
  return config;
}

inline TextClassifier tiny_classifier() {
  const auto tokenizer = letters();
  Generator random(2);
  const ClassifierConfig config{.encoder = tiny_encoder(tokenizer->size()), .classes = 3};
  auto model = std::make_unique<Classifier>(config, random);
  model->eval();
  return {std::move(model), tokenizer, {"good", "bad", "ugly"}};
}

inline TextEmbedder tiny_embedder() {
  const auto tokenizer = letters();
  Generator random(2);
  const SentenceEncoderConfig config{.encoder = tiny_encoder(tokenizer->size())};
  auto model = std::make_unique<SentenceEncoder>(config, random);
  model->eval();
  return {std::move(model), tokenizer};
}

/// Its mask is the token "h".
inline TextFiller tiny_filler() {
  const auto tokenizer = letters();
  Generator random(2);
  const MaskedModelConfig config{.encoder = tiny_encoder(tokenizer->size())};
  auto model = std::make_unique<MaskedModel>(config, random);
  model->eval();
  return {std::move(model), tokenizer, tokenizer->encode("h").front()};
}

}  // namespace heed::test
