// The filter of translations: what Translator::translate gives, in order, for any window and batch.
#include "heed/generation/translation_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/generation/tiny_translator.h"

namespace heed::translation_filter_test {
namespace {

using test::letters;
using test::tiny_translator;

const std::vector<std::string> kSentences = {
    "abc", "hgfedcba abc de", "a", "", "bad cab", "dead bee", "xyz", "f", "gh", "", "abcdefgh"};

// The texts of all results, and what the filter says of the sentences.
std::vector<std::string> filtered(const Translator& translator, const TranslateOptions& options,
                                  const OrderingOptions& ordering) {
  std::vector<std::string> texts;
  std::int64_t next = 0;
  TranslationFilter filter(translator, options, ordering, [&](const Translated& translated) {
    EXPECT_EQ(translated.number, next);
    EXPECT_EQ(translated.source, translator.read(kSentences[static_cast<std::size_t>(next++)]));
    for (const Translation& found : translated.found) texts.push_back(found.text);
    texts.push_back("|");
  });
  for (const std::string& sentence : kSentences) filter.add(translator.read(sentence));
  filter.flush();
  EXPECT_EQ(next, std::ssize(kSentences));
  return texts;
}

std::vector<std::string> at_once(const Translator& translator, const TranslateOptions& options) {
  std::vector<std::string> texts;
  for (const auto& found : translator.translate(kSentences, options)) {
    for (const Translation& one : found) texts.push_back(one.text);
    texts.push_back("|");
  }
  return texts;
}

std::vector<SearchOptions> searches() {
  return {{.beam_size = 1},
          {},
          {.beam_size = 4, .n_best = 3},
          {.method = SearchMethod::sample,
           .beam_size = 1,
           .n_best = 2,
           .temperature = 0.7,
           .top_k = 4,
           .top_p = 0.9,
           .seed = 7}};
}

TEST(TranslationFilter, GivesTheSameForAnyWindowAndBatch) {
  const Translator translator = tiny_translator(letters(), letters("uvwxyz"));
  const std::vector<OrderingOptions> orderings = {
      {.window = 1},
      {.window = 3},
      {.window = 4, .batch_tokens = 12},
      {.batch_sentences = 1},
      {.window = 1000, .batch_tokens = 40, .batch_sentences = 3},
      {}};
  for (const SearchOptions& search : searches()) {
    const TranslateOptions options{.search = search};
    const auto expected = at_once(translator, options);
    for (const OrderingOptions& ordering : orderings) {
      EXPECT_EQ(filtered(translator, options, ordering), expected)
          << "beam " << search.beam_size << ", n best " << search.n_best << "; window "
          << ordering.window << ", batch of " << ordering.batch_tokens << " tokens, "
          << ordering.batch_sentences << " sentences";
    }
  }
}

TEST(TranslationFilter, GivesWhatThePlainTwinGives) {
  const Translator translator = tiny_translator(letters(), letters("uvwxyz"));
  for (const SearchOptions& search : searches()) {
    const auto cached = filtered(translator, {.search = search}, {.window = 5});
    EXPECT_EQ(cached, at_once(translator, {.search = search, .stepping = Stepping::replayed}))
        << "beam " << search.beam_size << ", n best " << search.n_best;
  }
}

TEST(TranslationFilter, AnswersWhenAskedTo) {
  const Translator translator = tiny_translator(letters(), letters());
  int answers = 0;
  TranslationFilter filter(translator, {}, {.window = 3}, [&](const Translated&) { ++answers; });
  filter.add(translator.read("ab"));
  EXPECT_EQ(answers, 0);
  filter.flush();
  EXPECT_EQ(answers, 1);
  for (const char* const sentence : {"a", "b", "c"}) filter.add(translator.read(sentence));
  EXPECT_EQ(answers, 4) << "a full window needs no asking";
}

TEST(TranslationFilter, PassesOnWhatHasNoTokens) {
  const Translator translator = tiny_translator(letters(), letters());
  std::vector<std::string> texts;
  TranslationFilter filter(translator, {}, {}, [&](const Translated& translated) {
    ASSERT_EQ(translated.found.size(), 1u);
    texts.push_back(translated.found[0].text);
  });
  filter.add({});
  filter.add(translator.read(""));
  filter.flush();
  EXPECT_THAT(texts, testing::ElementsAre("", ""));
}

}  // namespace
}  // namespace heed::translation_filter_test
