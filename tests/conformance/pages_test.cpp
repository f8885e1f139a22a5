// Every mechanism has a page in docs/attention/, in English and in Chinese, with its picture and a
// C++ example, which the tests of the snippets run. If a model of `heed train` can contain the
// mechanism, the page has a config that names it, and that model can be made from it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "heed/attention/registry.h"
#include "heed/io/config.h"
#include "heed/models/classifier.h"
#include "heed/models/language_model.h"
#include "heed/models/recurrent_translator.h"
#include "heed/models/resnet.h"
#include "heed/models/transformer.h"
#include "heed/training/train_config.h"
#include "tests/support/paths.h"

namespace heed {
namespace {

using testing::Contains;
using testing::HasSubstr;

const std::filesystem::path kPages = test::project_path("docs/attention");

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The content of the first block of that language.
std::string block(const std::string& page, const std::string& language) {
  const std::string fence = "```" + language + "\n";
  const std::size_t begin = page.find(fence);
  if (begin == page.npos) return "";
  const std::size_t from = begin + fence.size();
  return page.substr(from, page.find("```", from) - from);
}

// The words of a text with one space between them: a page may break a line anywhere.
std::string words_of(const std::string& text) {
  std::stringstream in(text);
  std::string all, word;
  while (in >> word) all += (all.empty() ? "" : " ") + word;
  return all;
}

// Models contain layers that map a sequence to a sequence, or a picture to a picture.
bool in_models(const Mechanism& mechanism) {
  return mechanism.traits.form == Form::sequence || mechanism.traits.form == Form::picture;
}

TEST(Pages, EveryMechanismHasOne) {
  const std::string index = text_of(kPages / "README.md");
  const std::string chinese_index = text_of(kPages / "README.zh-CN.md");
  for (const Mechanism& mechanism : mechanisms()) {
    const std::string name(mechanism.name);
    const std::string page = text_of(kPages / (name + ".md"));
    const std::string chinese = text_of(kPages / (name + ".zh-CN.md"));
    ASSERT_FALSE(page.empty()) << "docs/attention/" << name << ".md is missing";
    ASSERT_FALSE(chinese.empty()) << "docs/attention/" << name << ".zh-CN.md is missing";
    EXPECT_TRUE(std::filesystem::exists(kPages / (name + ".svg"))) << name;
    EXPECT_THAT(page, HasSubstr("](" + name + ".svg)"));
    EXPECT_THAT(chinese, HasSubstr("](" + name + ".svg)"));
    EXPECT_FALSE(block(page, "cpp").empty()) << name;
    for (const std::string_view fact : {mechanism.about.title, mechanism.about.formula,
                                        mechanism.about.paper, mechanism.about.cost}) {
      EXPECT_THAT(words_of(page), HasSubstr(std::string(fact))) << name;
    }
    EXPECT_THAT(index, HasSubstr("](" + name + ".md)"));
    EXPECT_THAT(chinese_index, HasSubstr("](" + name + ".zh-CN.md)"));
  }
}

// A small model of each task, which makes the layers that the config names.
void make_models(TrainConfig config) {
  Generator generator(1);
  auto& translation = config.models.of<Transformer>();
  translation.source_vocabulary = translation.target_vocabulary = 10;
  translation.encoder_layers = translation.decoder_layers = 1;
  translation.block.embed = translation.block.hidden = 48;
  const Transformer translator(translation, generator);
  auto& language = config.models.of<LanguageModel>();
  language.vocabulary = 10;
  language.layers = 1;
  language.block.embed = language.block.hidden = 48;
  const LanguageModel language_model(language, generator);
  auto& classification = config.models.of<Classifier>();
  classification.encoder.vocabulary = classification.classes = 10;
  classification.encoder.layers = 1;
  classification.encoder.block.embed = classification.encoder.block.hidden = 48;
  const Classifier classifier(classification, generator);
  auto& recurrence = config.models.of<RecurrentTranslator>();
  recurrence.source_vocabulary = recurrence.target_vocabulary = 10;
  const RecurrentTranslator recurrent(recurrence, generator);
  auto& pictures = config.models.of<ResNet>();
  pictures.sizes = {.picture = {3, 8, 8}, .classes = 10};
  const ResNet resnet(pictures, generator);
}

TEST(Pages, ConfigsAreThoseOfTraining) {
  for (const Mechanism& mechanism : mechanisms()) {
    const std::string name(mechanism.name);
    const std::string text = block(text_of(kPages / (name + ".md")), "toml");
    EXPECT_EQ(text.empty(), !in_models(mechanism)) << name;
    if (text.empty()) continue;
    TrainConfig config;
    io::load_toml(text, config, name + ".md");
    std::vector<std::string> named;
    for (const ModelKind& kind : model_kinds()) {
      for (const AttentionChoice& attention : config.models.at(kind).config().attentions()) {
        named.emplace_back(attention.mechanism().name);
      }
    }
    EXPECT_THAT(named, Contains(name));
    make_models(config);
  }
  TrainConfig positions;
  io::load_toml(block(text_of(kPages / "positions.md"), "toml"), positions, "positions.md");
  make_models(positions);
}

}  // namespace
}  // namespace heed
