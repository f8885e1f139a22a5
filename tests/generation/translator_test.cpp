// Translators: order, batches, empty sentences, attention weights, and their folders.
#include "heed/generation/translator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/generation/examine.h"
#include "heed/generation/model_folder.h"
#include "heed/io/file.h"
#include "tests/generation/tiny_translator.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"
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
  options.scheduling.batch_tokens = 12;
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
  options.scheduling.batch_tokens = 12;
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
  TranslateOptions options{.search = {.beam_size = 3, .n_best = 2}};
  const auto plain = translator.translate(kSentences, options);
  EXPECT_FALSE(plain[0][0].hypothesis.weights.has_value()) << "not observed";
  options.observed = ObservedWeights::all;
  const auto observed = translator.translate(kSentences, options);
  for (std::size_t i = 0; i < kSentences.size(); ++i) {
    SCOPED_TRACE(kSentences[i]);
    expect_equal(observed[i], plain[i]);
    if (kSentences[i].empty()) continue;
    for (const Translation& found : observed[i]) {
      ASSERT_TRUE(found.hypothesis.weights.has_value());
      const ModelWeights& weights = *found.hypothesis.weights;
      const auto source = translator.read(kSentences[i]);
      const ModelWeights expected = examine_weights(translator, {source, found.hypothesis.tokens});
      ASSERT_EQ(weights.encoder.size(), 1u);
      ASSERT_EQ(weights.decoder.size(), 1u);
      const auto near = [](const Tensor& a, const Tensor& b) {
        return test::max_relative_error(a, b) <= 1e-5;
      };
      EXPECT_TRUE(near(weights.encoder[0].self, expected.encoder[0].self));
      EXPECT_TRUE(near(weights.decoder[0].self, expected.decoder[0].self));
      EXPECT_TRUE(near(weights.decoder[0].cross, expected.decoder[0].cross));
    }
  }
}

// The steps of average attention have no weights; a pass over the whole translation has.
TEST(Translator, ShowsWeightsThatStepsDoNotHave) {
  const auto tokenizer = letters();
  TransformerConfig config = test::tiny_config(tokenizer, tokenizer);
  config.decoder_attention = "average";
  const Translator translator = tiny_translator(config, tokenizer, tokenizer);
  const auto found =
      translator.translate(std::vector<std::string>{"abc"}, {.observed = ObservedWeights::all});
  const Hypothesis& best = found[0][0].hypothesis;
  ASSERT_TRUE(best.weights.has_value());
  const auto T = std::ssize(best.tokens) + 1;
  EXPECT_EQ(best.weights->decoder[0].self.shape(), (Shape{1, 1, T, T}));
  EXPECT_EQ(best.weights->decoder[0].cross.shape(), (Shape{1, 2, T, 4}));
}

TEST(Translator, EndsWhereItsPositionsDo) {
  const auto tokenizer = letters();
  TransformerConfig config = test::tiny_config(tokenizer, tokenizer);
  config.block.positions = "learned max_length=6";
  const Translator translator = tiny_translator(config, tokenizer, tokenizer);
  EXPECT_EQ(translator.model().max_source(), 6);
  TranslateOptions options;
  options.search.min_length = 9;
  const auto found = translator.translate(std::vector<std::string>{"abcde"}, options);
  EXPECT_EQ(found[0][0].hypothesis.tokens.size(), 5u) << "and begin";
  EXPECT_EQ(tiny_translator(tokenizer, tokenizer).model().max_target(), Position::kAnyLength);
}

TEST(Translator, GoesToAFolderAndBack) {
  const auto shared = letters();
  const TempDir one, two;
  save_model(tiny_translator(shared, shared), one.path());
  save_model(tiny_translator(words("ab cd"), letters()), two.path());
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
  save_model(translator, dir.path());
  io::write_file(dir / ("target_" + translator.target()->files()[0].name),
                 letters("vwxyz")->files()[0].content);
  EXPECT_THAT(error_message([&] { load_translator(dir.path()); }),
              HasSubstr("they do not belong together"));
  std::filesystem::remove(dir / "model.safetensors");
  EXPECT_THAT(error_message([&] { load_translator(dir.path()); }), HasSubstr("model.safetensors"));
}

TEST(Translator, RefusesTokenizersOfOtherModels) {
  EXPECT_THAT(error_message([] {
                tiny_translator(test::tiny_config(letters(), letters()), letters("ab"), letters());
              }),
              HasSubstr("they do not belong together"));
}

}  // namespace
}  // namespace heed::translator_test
