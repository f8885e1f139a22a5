#include "heed/text/pipeline/subword_model.h"

#include "heed/text/pipeline/bpe.h"
#include "heed/text/pipeline/unigram.h"
#include "heed/text/pipeline/word_piece.h"

namespace heed::pipeline {
namespace {

// Old files have no "type"; the members tell.
std::string_view model_type(const JsonNode& node) {
  if (const auto type = node.find("type")) return type->text();
  if (node.find("merges")) return "BPE";
  if (node.find("max_input_chars_per_word")) return "WordPiece";
  if (const auto vocab = node.find("vocab"); vocab && vocab->value().list() != nullptr) {
    return "Unigram";
  }
  return "WordLevel";
}

}  // namespace

std::unique_ptr<const SubwordModel> read_model(const JsonNode& node) {
  const std::string_view type = model_type(node);
  if (type == "BPE") return std::make_unique<Bpe>(node);
  if (type == "WordPiece") return std::make_unique<WordPiece>(node);
  if (type == "Unigram") return std::make_unique<Unigram>(node);
  if (type == "WordLevel") return std::make_unique<WordLevel>(node);
  node.at("type").refuse("a model: BPE, WordPiece, Unigram or WordLevel");
}

}  // namespace heed::pipeline
