// Translators: order, batches, empty sentences, and the folders they lie in.
#include "heed/generation/translator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "heed/io/file.h"
#include "tests/generation/tiny_translator.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::translator_test {
namespace {

using test::letters;
using test::tiny_translator;
using test::words;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

const std::vector<std::string> kSentences = {
    "abc", "hgfedcba abc de", "a", "", "bad cab", "dead bee", "xyz", "f", "gh"};

void expect_equal(const std::vector<Translation>& a, const std::vector<Translation>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t n = 0; n < a.size(); ++n) {
    EXPECT_EQ(a[n].text, b[n].text);
    EXPECT_EQ(a[n].hypothesis.tokens, b[n].hypothesis.tokens);
    EXPECT_EQ(a[n].hypothesis.score, b[n].hypothesis.score);
  }
}

TEST(Translator, KeepsTheOrderWhateverTheBatches) {
  const Translator translator = tiny_translator(letters(), letters("uvwxyz"));
  TranslateOptions options{.search = {.beam_size = 3, .n_best = 2}};
  const auto together = translator.translate(kSentences, options);
  ASSERT_EQ(together.size(), kSentences.size());
  options.batch_tokens = 12;
  const auto few = translator.translate(kSentences, options);
  std::vector<std::string> different;
  for (std::size_t i = 0; i < kSentences.size(); ++i) {
    SCOPED_TRACE(kSentences[i]);
    const auto alone = translator.translate({&kSentences[i], 1}, options);
    for (const auto* const other : {&few[i], &alone[0]}) {
      ASSERT_EQ(other->size(), together[i].size());
      for (std::size_t n = 0; n < other->size(); ++n) {
        EXPECT_EQ((*other)[n].text, together[i][n].text);
        EXPECT_NEAR((*other)[n].hypothesis.score, together[i][n].hypothesis.score, 1e-5);
      }
    }
    different.push_back(together[i][0].text);
  }
  std::ranges::sort(different);
  EXPECT_GT(std::ranges::unique(different).begin() - different.begin(), 3)
      << "sentences must differ, or their order cannot be seen";
}

TEST(Translator, SamplesTheSameWhateverTheBatches) {
  const Translator translator = tiny_translator(letters(), letters());
  TranslateOptions options{.search = {.method = SearchMethod::sample, .beam_size = 1}};
  const auto together = translator.translate(kSentences, options);
  options.batch_tokens = 12;
  const auto few = translator.translate(kSentences, options);
  for (std::size_t i = 0; i < kSentences.size(); ++i)
    EXPECT_EQ(few[i][0].text, together[i][0].text);
}

TEST(Translator, CanBeStoppedAtAnyStep) {
  const Translator translator = tiny_translator(letters(), letters());
  int steps = 0;
  TranslateOptions options{.on_step = [&] { ++steps; }};
  const auto expected = translator.translate(kSentences, options);
  EXPECT_GT(steps, 3);
  options.on_step = [&] {
    if (--steps == 1) throw Error("enough");
  };
  EXPECT_EQ(error_message([&] { translator.translate(kSentences, options); }), "enough");
  options.on_step = {};
  const auto again = translator.translate(kSentences, options);
  for (std::size_t i = 0; i < again.size(); ++i) expect_equal(again[i], expected[i]);
}

TEST(Translator, GivesTheTextOfItsTokens) {
  const Translator translator = tiny_translator(letters(), letters("uvwxyz"));
  for (const auto& found : translator.translate(kSentences)) {
    EXPECT_EQ(found[0].text, translator.target()->decode(found[0].hypothesis.tokens));
  }
}

TEST(Translator, TranslatesNothingAsNothing) {
  const Translator translator = tiny_translator(letters(), letters());
  for (const auto& found : translator.translate(std::vector<std::string>{"", ""})) {
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].text, "");
    EXPECT_TRUE(found[0].hypothesis.tokens.empty());
  }
  EXPECT_TRUE(translator.translate(std::span<const std::string>()).empty());
}

TEST(Translator, ReadsSentencesWithTheirEnd) {
  const Translator translator = tiny_translator(letters(), letters());
  const auto ids = translator.read("ab");
  ASSERT_EQ(ids.size(), 3u);
  EXPECT_EQ(translator.source()->decode(ids), "ab");
  EXPECT_EQ(ids.back(), translator.source()->special().end);
}

TEST(Translator, ShowsWhatItAttendsTo) {
  const Translator translator = tiny_translator(letters(), letters());
  const std::vector<std::int32_t> source = translator.read("abc"), target = {1, 5};
  const TransformerWeights weights = translator.weights(source, target);
  ASSERT_EQ(weights.encoder.size(), 1u);
  ASSERT_EQ(weights.decoder.size(), 1u);
}

TEST(Translator, EndsWhereItsPositionsDo) {
  const auto tokenizer = letters();
  Generator generator(3);
  Transformer model({.source_vocabulary = tokenizer->size(),
                     .target_vocabulary = tokenizer->size(),
                     .embed = 16,
                     .heads = 2,
                     .hidden = 20,
                     .encoder_layers = 1,
                     .decoder_layers = 1,
                     .positions = "learned max_length=6"},
                    generator);
  model.eval();
  EXPECT_EQ(model.source.max_length(), 6);
  const Translator translator(std::move(model), tokenizer, tokenizer);
  TranslateOptions options;
  options.search.min_length = 9;
  const auto found = translator.translate(std::vector<std::string>{"abcde"}, options);
  EXPECT_EQ(found[0][0].hypothesis.tokens.size(), 5u) << "and begin";
  EXPECT_EQ(tiny_translator(tokenizer, tokenizer).model().target.max_length(),
            Position::kAnyLength);
}

TEST(Translator, GoesToAFolderAndBack) {
  const auto shared = letters();
  const TempDir one, two;
  save_translator(tiny_translator(shared, shared), one.path());
  save_translator(tiny_translator(words("ab cd"), letters()), two.path());
  EXPECT_THAT(one.names(),
              UnorderedElementsAre("config.json", "model.safetensors", shared->files()[0].name));
  EXPECT_EQ(two.names().size(), 4u);
  const Translator first = load_translator(one.path()), second = load_translator(two.path());
  EXPECT_EQ(first.source(), first.target());
  EXPECT_NE(second.source(), second.target());
  EXPECT_EQ(second.source()->kind(), "words");
  EXPECT_EQ(second.target()->kind(), "characters");
  EXPECT_FALSE(first.model().training());

  const auto expected = tiny_translator(shared, shared).translate(kSentences);
  const auto read = first.translate(kSentences);
  for (std::size_t i = 0; i < kSentences.size(); ++i) expect_equal(read[i], expected[i]);
}

TEST(Translator, SaysWhatIsWrongWithAFolder) {
  const TempDir dir;
  EXPECT_THAT(error_message([&] { load_translator(dir.path()); }), HasSubstr("has no config.json"));
  EXPECT_THAT(error_message([&] { load_translator(dir / "nowhere"); }), HasSubstr("nowhere"));
  const Translator translator = tiny_translator(letters(), letters("xyz"));
  save_translator(translator, dir.path());
  io::write_file(dir / ("target_" + translator.target()->files()[0].name),
                 letters("vwxyz")->files()[0].content);
  EXPECT_THAT(error_message([&] { load_translator(dir.path()); }),
              HasSubstr("they do not belong together"));
  std::filesystem::remove(dir / "model.safetensors");
  EXPECT_THAT(error_message([&] { load_translator(dir.path()); }), HasSubstr("model.safetensors"));
}

TEST(Translator, RefusesTokenizersOfOtherModels) {
  Translator translator = tiny_translator(letters(), letters());
  EXPECT_THAT(
      error_message([&] { Translator(std::move(translator.model()), letters("ab"), letters()); }),
      HasSubstr("they do not belong together"));
}

}  // namespace
}  // namespace heed::translator_test
