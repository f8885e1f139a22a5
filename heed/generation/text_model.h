// Models with their tokenizers, as folders hold them: one type for each task. translator.h has that
// of translation.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heed/generation/origin.h"
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
  std::shared_ptr<Origin> origin = {};  ///< Of an imported model; null: of heed's own.
};

/// What stands around a text that a model without decoder reads.
enum class TextFrame : std::uint8_t {
  begin,    // the begin token before it
  special,  // the special tokens that the tokenizer's file puts around texts
};

/// What the scores of classes become.
enum class Scoring : std::uint8_t {
  softmax,  // probabilities of which one label a text has
  sigmoid,  // probabilities of each label by itself
  none,     // numbers as they are, of regression
};

/// The names that configs use.
constexpr std::array<io::EnumName<TextFrame>, 2> enum_names(TextFrame) {
  return {{{TextFrame::begin, "begin"}, {TextFrame::special, "special"}}};
}
constexpr std::array<io::EnumName<Scoring>, 3> enum_names(Scoring) {
  return {{{Scoring::softmax, "softmax"}, {Scoring::sigmoid, "sigmoid"}, {Scoring::none, "none"}}};
}

/// Task::classify.
struct TextClassifier {
  std::unique_ptr<ClassificationModel> model;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::vector<std::string> labels;  ///< In the order of the model's classes.
  TextFrame frame = TextFrame::begin;
  Scoring scoring = Scoring::softmax;
  std::shared_ptr<Origin> origin = {};  ///< Of an imported model; null: of heed's own.
};

/// Task::embed.
struct TextEmbedder {
  std::unique_ptr<EncodingModel> model;
  std::shared_ptr<const Tokenizer> tokenizer;
  TextFrame frame = TextFrame::begin;
  std::string prompt = {};              ///< Text before every text.
  std::shared_ptr<Origin> origin = {};  ///< Of an imported model; null: of heed's own.
};

/// Task::fill.
struct TextFiller {
  std::unique_ptr<FillingModel> model;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::int32_t mask = 0;  ///< The token that stands for a masked one, such as [MASK].
  TextFrame frame = TextFrame::begin;
  std::shared_ptr<Origin> origin = {};  ///< Of an imported model; null: of heed's own.
};

}  // namespace heed
