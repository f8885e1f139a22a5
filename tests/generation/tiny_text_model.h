// A language model and a classifier of letters, untrained, for tests.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "heed/generation/text_model.h"
#include "heed/models/classifier.h"
#include "heed/models/language_model.h"
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

inline TextClassifier tiny_classifier() {
  const auto tokenizer = letters();
  Generator random(2);
  ClassifierConfig config{.vocabulary = tokenizer->size(), .classes = 3, .layers = 1};
  config.block.embed = 16;
  config.block.heads = 2;
  config.block.hidden = 20;
  auto model = std::make_unique<Classifier>(config, random);
  model->eval();
  return {std::move(model), tokenizer, {"good", "bad", "ugly"}};
}

}  // namespace heed::test
