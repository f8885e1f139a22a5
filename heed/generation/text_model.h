// Language models and classifiers with their tokenizers, as they lie in folders.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "heed/models/classifier.h"
#include "heed/models/language_model.h"
#include "heed/text/tokenizer.h"

namespace heed {

struct TextGenerator {
  LanguageModel model;
  std::shared_ptr<const Tokenizer> tokenizer;
};

struct TextClassifier {
  Classifier model;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::vector<std::string> labels;  ///< In the order of the model's classes.
};

/// Writes config.json, model.safetensors and the tokenizer's files into a folder that exists.
void save_text_generator(const TextGenerator& generator, const std::filesystem::path& folder);
void save_text_classifier(const TextClassifier& classifier, const std::filesystem::path& folder);

/// Reads what was written so, ready for use (not for training). The folder of a whole training
/// run will do: find_model().
TextGenerator load_text_generator(const std::filesystem::path& place);
TextClassifier load_text_classifier(const std::filesystem::path& place);

}  // namespace heed
