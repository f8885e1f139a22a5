// Models with their tokenizers, as folders hold them: one type for each task. translator.h has that
// of translation.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heed/models/model.h"
#include "heed/text/chat_template.h"
#include "heed/text/tokenizer.h"

namespace heed {

/// How a model reads chats.
struct ChatFormat {
  ChatTemplate chat_template;
  std::string bos_token = {}, eos_token = {};  ///< Texts that the template may write.
};

/// Task::language.
struct TextGenerator {
  std::unique_ptr<CausalModel> model;
  std::shared_ptr<const Tokenizer> tokenizer;
  /// The tokens that end a text; none: the model does not end texts.
  std::vector<std::int32_t> ends = {};
  /// The token before every prompt, unless Tokenizer::encode_with_special() puts it there.
  std::optional<std::int32_t> begin = {};
  std::optional<ChatFormat> chat = {};  ///< None: the model was not trained for chats.
  /// "key=value" of GenerateOptions: what the model's publisher recommends.
  std::vector<std::string> options = {};
};

/// Task::classify.
struct TextClassifier {
  std::unique_ptr<ClassificationModel> model;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::vector<std::string> labels;  ///< In the order of the model's classes.
};

}  // namespace heed
