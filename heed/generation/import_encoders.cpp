// Encoders of other programs: sentence encoders, classifiers and models of masked tokens.
#include <string_view>

#include "heed/base/error.h"
#include "heed/generation/foreign_folder.h"
#include "heed/io/paths.h"
#include "heed/models/importers/sentence_modules.h"
#include "heed/text/pipeline/hf_folder.h"
#include "heed/text/pipeline/hf_tokenizer.h"

namespace heed {
namespace {

// As the pipeline "text-classification" of transformers.
Scoring scoring_of(const ForeignConfig& config, std::int64_t classes) {
  const std::string type = config.text("problem_type", "");
  if (type == "regression") return Scoring::none;
  return type == "multi_label_classification" || classes == 1 ? Scoring::sigmoid : Scoring::softmax;
}

// The mask token that the files of the tokenizer name; "" if they name none.
std::string mask_name(const ForeignFolder& folder) {
  for (const char* const file : {"tokenizer_config.json", "special_tokens_map.json"}) {
    if (!io::exists(folder.path / file)) continue;
    const ForeignConfig config = ForeignConfig::read(folder.path / file);
    const io::Value* const value = io::find(config.table(), "mask_token");
    if (value == nullptr) continue;
    if (value->string() != nullptr) return *value->string();
    if (value->table() != nullptr) return config.section("mask_token").text("content");
  }
  return "";
}

std::int32_t mask_of(const ForeignFolder& folder, const Tokenizer& tokenizer) {
  const auto* const hf = dynamic_cast<const HfTokenizer*>(&tokenizer);
  for (const std::string& name :
       {mask_name(folder), std::string("[MASK]"), std::string("<mask>")}) {
    const std::optional<std::int32_t> id = hf != nullptr ? hf->id_of(name) : std::nullopt;
    if (id) return *id;
  }
  fail(
      "[import] {}: its tokenizer has no mask token: expected [MASK], <mask> or a \"mask_token\" "
      "in tokenizer_config.json",
      folder.path.string());
}

}  // namespace

TextEmbedder import_embedder(const ForeignFolder& folder) {
  TextEmbedder embedder{import_as<EncodingModel>(folder), read_hf_tokenizer(folder.path),
                        TextFrame::special};
  const Tokenizer& tokenizer = *embedder.tokenizer;
  check_fits(embedder.model->vocabulary(), tokenizer, folder);
  const std::optional<SentenceModules> modules = read_sentence_modules(folder.path);
  if (!modules) return embedder;
  HEED_CHECK(!modules->lower_case || tokenizer.encode("A B C") == tokenizer.encode("a b c"),
             "[import] {}: \"do_lower_case\" of sentence_bert_config.json is true, but the "
             "tokenizer does not read texts in lower case",
             folder.path.string());
  embedder.prompt = modules->prompt;
  return embedder;
}

TextClassifier import_classifier(const ForeignFolder& folder) {
  TextClassifier classifier{import_as<ClassificationModel>(folder), read_hf_tokenizer(folder.path),
                            folder.import.labels, TextFrame::special};
  check_fits(classifier.model->vocabulary(), *classifier.tokenizer, folder);
  classifier.scoring = scoring_of(folder.config, classifier.model->classes());
  return classifier;
}

TextFiller import_filler(const ForeignFolder& folder) {
  TextFiller filler{import_as<FillingModel>(folder), read_hf_tokenizer(folder.path), 0,
                    TextFrame::special};
  check_fits(filler.model->vocabulary(), *filler.tokenizer, folder);
  filler.mask = mask_of(folder, *filler.tokenizer);
  return filler;
}

}  // namespace heed
