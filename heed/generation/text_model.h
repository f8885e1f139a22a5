// Models with their tokenizers, as folders hold them: one type for each task. translator.h has that
// of translation.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/models/model.h"
#include "heed/text/tokenizer.h"

namespace heed {

/// Task::language.
struct TextGenerator {
  std::unique_ptr<CausalModel> model;
  std::shared_ptr<const Tokenizer> tokenizer;
};

/// Task::classify.
struct TextClassifier {
  std::unique_ptr<ClassificationModel> model;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::vector<std::string> labels;  ///< In the order of the model's classes.
};

}  // namespace heed
