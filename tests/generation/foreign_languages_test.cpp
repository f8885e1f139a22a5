// Which tokens of a vocabulary name languages, by the tokenizers of transformers.
#include "heed/generation/foreign_languages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heed::foreign_languages_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A vocabulary of these tokens, which splits nothing.
class Listed : public Tokenizer {
 public:
  explicit Listed(std::vector<std::string> tokens) : tokens_(std::move(tokens)) {}
  std::vector<std::int32_t> encode(std::string_view) const override { return {}; }
  std::string decode(std::span<const std::int32_t>) const override { return ""; }
  std::int64_t size() const override { return std::ssize(tokens_); }
  SpecialTokens special() const override { return {}; }
  std::string piece(std::int32_t id) const override {
    return tokens_.at(static_cast<std::size_t>(id));
  }
  bool begins_word(std::int32_t) const override { return true; }
  std::vector<File> files() const override { return {}; }

 private:
  std::vector<std::string> tokens_;
};

std::vector<std::string> names_of(const LanguageTable& table) {
  std::vector<std::string> names;
  for (const Language& language : table.all) names.push_back(language.name);
  return names;
}

TEST(ForeignLanguages, M2m100) {
  const Listed tokens({"<s>", "__", "____", "__init__x", "__fr__", "__en__", "__A__"});
  const LanguageTable table = find_languages(tokens, {.target_language = "fr"});
  EXPECT_THAT(names_of(table), ElementsAre("en", "fr"));
  EXPECT_EQ(table.find("fr"), 4);
  EXPECT_EQ(table.source, "en");
  EXPECT_EQ(table.target, "fr");
  EXPECT_EQ(table.source_place, SourceLanguage::before);
  EXPECT_EQ(table.target_place, TargetLanguage::forced);
}

TEST(ForeignLanguages, Nllb) {
  const Listed tokens({"eng_Latn", "zho_Hans", "abc_Def", "Abc_Defg", "fra_Latn"});
  const LanguageTable table = find_languages(tokens, {.source_language = "zho_Hans"});
  EXPECT_THAT(names_of(table), ElementsAre("eng_Latn", "fra_Latn", "zho_Hans"));
  EXPECT_EQ(table.source, "zho_Hans");
  EXPECT_EQ(table.target, "");
  EXPECT_EQ(table.source_place, SourceLanguage::before);
  EXPECT_EQ(find_languages(tokens, {.is_legacy = true}).source_place, SourceLanguage::after);
}

TEST(ForeignLanguages, MBart) {
  const Listed first({"en_XX", "fr_XX"}), second({"en_XX", "af_ZA"}), pruned({"en_XX", "fr_XX"});
  EXPECT_EQ(find_languages(first, {}).source_place, SourceLanguage::after);
  EXPECT_EQ(find_languages(first, {}).target_place, TargetLanguage::start);
  EXPECT_EQ(find_languages(second, {}).source_place, SourceLanguage::before);
  EXPECT_EQ(find_languages(second, {}).target_place, TargetLanguage::forced);
  const LanguageTable named = find_languages(pruned, {.kind = "MBart50Tokenizer"});
  EXPECT_EQ(named.target_place, TargetLanguage::forced);
}

TEST(ForeignLanguages, Marian) {
  const Listed tokens({"</s>", ">>fra<<", ">>deu<<", ">>", "<<"});
  const LanguageTable table = find_languages(tokens, {.kind = "MarianTokenizer"});
  EXPECT_THAT(names_of(table), ElementsAre("deu", "fra"));
  EXPECT_EQ(table.source_place, SourceLanguage::none);
  EXPECT_EQ(table.target_place, TargetLanguage::source);
  EXPECT_EQ(table.source, "");
}

TEST(ForeignLanguages, None) {
  EXPECT_THAT(find_languages(Listed({"a", "en_xx", "__x"}), {}).all, IsEmpty());
  EXPECT_THAT(find_languages(Listed({"a"}), {.kind = "MarianTokenizer"}).all, IsEmpty());
  EXPECT_EQ(find_languages(Listed({"a"}), {.kind = "MarianTokenizer"}).target_place,
            TargetLanguage::none);
}

}  // namespace
}  // namespace heed::foreign_languages_test
