// A language model and a classifier of letters, untrained, for tests.
#pragma once

#include <string>
#include <utility>

#include "heed/generation/text_model.h"
#include "tests/generation/tiny_translator.h"

namespace heed::test {

inline TextGenerator tiny_generator(const std::string& positions = "learned max_length=16") {
  const auto tokenizer = letters();
  Generator random(2);
  LanguageModel model({.vocabulary = tokenizer->size(),
                       .embed = 16,
                       .heads = 2,
                       .layers = 2,
                       .dropout = 0.1,
                       .positions = positions},
                      random);
  model.eval();
  return {std::move(model), tokenizer};
}

inline TextClassifier tiny_classifier() {
  const auto tokenizer = letters();
  Generator random(2);
  Classifier model({.vocabulary = tokenizer->size(),
                    .classes = 3,
                    .embed = 16,
                    .heads = 2,
                    .hidden = 20,
                    .layers = 1},
                   random);
  model.eval();
  return {std::move(model), tokenizer, {"good", "bad", "ugly"}};
}

}  // namespace heed::test
