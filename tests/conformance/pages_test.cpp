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
#include "heed/models/choice.h"
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

// Models contain layers that map a sequence to a sequence. Hard attention is one, but has no
// gradient with respect to its scores, so `heed train` refuses it.
bool in_models(const Mechanism& mechanism) {
  return mechanism.traits.form == Form::sequence && mechanism.name != "hard";
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
  config.transformer.source_vocabulary = config.transformer.target_vocabulary = 10;
  config.transformer.encoder_layers = config.transformer.decoder_layers = 1;
  config.transformer.embed = config.transformer.hidden = 48;
  const Transformer translator(config.transformer, generator);
  config.language_model.vocabulary = 10;
  config.language_model.layers = 1;
  config.language_model.embed = config.language_model.hidden = 48;
  const LanguageModel language_model(config.language_model, generator);
  config.classifier.vocabulary = config.classifier.classes = 10;
  config.classifier.layers = 1;
  config.classifier.embed = config.classifier.hidden = 48;
  const Classifier classifier(config.classifier, generator);
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
    for (const std::string& attention :
         {config.transformer.encoder_attention, config.transformer.decoder_attention,
          config.transformer.cross_attention, config.language_model.attention,
          config.classifier.attention}) {
      named.push_back(parse_attention(attention).name);
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
