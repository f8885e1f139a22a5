// The corpus of the grammar: one translation for a sentence, every word linked, always the same,
// nothing held out that is trained on.
#include "heed/data/grammar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "heed/io/file.h"
#include "heed/text/unicode.h"
#include "heed/text/words.h"
#include "tests/support/error_message.h"
#include "tests/support/sanitized.h"
#include "tests/support/temp_dir.h"

namespace heed::grammar_test {
namespace {

using testing::HasSubstr;

std::int32_t words_in(const std::string& text) {
  std::istringstream words(text);
  return static_cast<std::int32_t>(std::distance(std::istream_iterator<std::string>(words),
                                                 std::istream_iterator<std::string>()));
}

TEST(Grammar, LinksEveryWordAndCharacter) {
  for (int i = 0; i < 20000; ++i) {
    const GrammarPair pair = grammar_sentence(1, i);
    ASSERT_FALSE(unicode::find_invalid(pair.english));
    ASSERT_FALSE(unicode::find_invalid(pair.chinese));
    const std::int32_t words = words_in(pair.english);
    const auto characters = static_cast<std::int32_t>(unicode::decode(pair.chinese).size());
    std::set<std::int32_t> linked_words, linked_characters, sure;
    for (const GrammarPair::Link& link : pair.links) {
      linked_words.insert(link.word);
      linked_characters.insert(link.character);
      if (link.sure) sure.insert(link.word);
    }
    ASSERT_EQ(std::ssize(linked_words), words) << pair.english << pharaoh(pair.links);
    ASSERT_EQ(*linked_words.rbegin(), words - 1);
    ASSERT_EQ(std::ssize(linked_characters), characters) << pair.chinese << pharaoh(pair.links);
    ASSERT_EQ(*linked_characters.rbegin(), characters - 1);
    ASSERT_GT(sure.size(), 1u) << pair.english;
  }
}

TEST(Grammar, WritesCleanSentences) {
  for (int i = 0; i < 5000; ++i) {
    const GrammarPair pair = grammar_sentence(2, i);
    ASSERT_TRUE(pair.english.ends_with('.') || pair.english.ends_with('?')) << pair.english;
    ASSERT_TRUE(pair.english.ends_with('.') ? pair.chinese.ends_with("。")
                                            : pair.chinese.ends_with("？"));
    ASSERT_TRUE(std::isupper(static_cast<unsigned char>(pair.english[0]))) << pair.english;
    ASSERT_EQ(pair.english.find("  "), std::string::npos);
    ASSERT_EQ(pair.chinese.find(' '), std::string::npos);
    ASSERT_EQ(pair.chinese.find("的的"), std::string::npos) << pair.chinese;
    ASSERT_LE(words_in(pair.english), 40);
  }
}

TEST(Grammar, HasOneTranslationForASentence) {
  std::map<std::string, std::string> translations;
  const int sentences = test::is_sanitized() ? 5000 : 100000;
  for (int i = 0; i < sentences; ++i) {
    const GrammarPair pair = grammar_sentence(3, i);
    const auto [known, fresh] = translations.emplace(pair.english, pair.chinese);
    ASSERT_EQ(known->second, pair.chinese) << pair.english;
  }
  // Only short patterns repeat: what is held out is new.
  EXPECT_GT(std::ssize(translations), sentences * 93 / 100);
}

// Links that cross: alignments are far from the diagonal.
TEST(Grammar, OrdersWordsDifferently) {
  int crossing = 0;
  for (int i = 0; i < 1000; ++i) {
    const GrammarPair pair = grammar_sentence(4, i);
    bool crosses = false;
    for (const auto& a : pair.links) {
      for (const auto& b : pair.links) {
        crosses |= a.sure && b.sure && a.word < b.word && a.character > b.character;
      }
    }
    crossing += crosses;
  }
  EXPECT_GT(crossing, 700);
}

TEST(Grammar, KeepsItsSentences) {
  // People compare their scores: what a seed gives must not change unnoticed.
  const auto expect = [](std::int64_t number, const char* english, const char* chinese,
                         const char* links) {
    const GrammarPair pair = grammar_sentence(1, number);
    EXPECT_EQ(pair.english, english);
    EXPECT_EQ(pair.chinese, chinese);
    EXPECT_EQ(pharaoh(pair.links), links);
  };
  expect(2, "The day before yesterday, she cooked nine eggs.", "前天她做了九个鸡蛋。",
         "0-0 0-1 1-0 1-1 2-0 2-1 3-0 3-1 4-2 5-3 5p4 6-5 6p6 7p6 7-7 7-8 7p9");
  expect(4, "Chen Jing is reading six letters in the office.", "陈静正在办公室里看六封信。",
         "0-0 0-1 1-0 1-1 2-2 3-8 4-9 4p10 5p10 5-11 6-3 6-7 7p4 7p5 7p6 7p12 8-4 8-5 8-6 8p12");
  expect(7, "There is a big cat near the bank.", "银行附近有一只大猫。",
         "0p4 1-4 2-5 2p6 3-7 4p6 4-8 5-2 5-3 6p0 6p1 6p9 7-0 7-1 7p9");
}

TEST(Grammar, HoldsOutWhatIsNotTrainedOn) {
  const GrammarCorpus corpus = grammar_corpus({.sentences = 3000, .held_out = 500, .seed = 9});
  ASSERT_EQ(corpus.training.size(), 3000u);
  ASSERT_EQ(corpus.held_out.size(), 500u);
  std::set<std::string> all;
  for (const auto& pair : corpus.training) all.insert(pair.english);
  for (const auto& pair : corpus.held_out) all.insert(pair.english);
  EXPECT_EQ(all.size(), 3500u);
}

TEST(Grammar, IsWrittenLineByLine) {
  const TempDir dir;
  const GrammarCorpus corpus = grammar_corpus({.sentences = 2, .held_out = 0, .seed = 5});
  write_pairs(dir / "corpus", corpus.training);
  std::string english, chinese, links;
  for (const GrammarPair& pair : corpus.training) {
    english += pair.english + '\n';
    chinese += pair.chinese + '\n';
    links += pharaoh(pair.links) + '\n';
  }
  EXPECT_EQ(io::read_file(dir / "corpus.en", 10000), english);
  EXPECT_EQ(io::read_file(dir / "corpus.zh", 10000), chinese);
  EXPECT_EQ(io::read_file(dir / "corpus.align", 10000), links);
}

TEST(Grammar, IsAFunctionOfTheSeed) {
  const GrammarCorpus one = grammar_corpus({.sentences = 50, .held_out = 20, .seed = 5});
  const GrammarCorpus more = grammar_corpus({.sentences = 80, .held_out = 20, .seed = 5});
  const GrammarCorpus other = grammar_corpus({.sentences = 50, .held_out = 20, .seed = 6});
  for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(one.training[i].english, more.training[i].english);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(one.held_out[i].chinese, more.held_out[i].chinese);
  EXPECT_NE(one.training[0].english, other.training[0].english);
  EXPECT_THAT(error_message([] { grammar_corpus({.sentences = -1}); }),
              HasSubstr("[grammar] -1 sentences"));
}

TEST(Grammar, RareNamesAreTheSameWordInBothLanguages) {
  const auto words = [](const std::string& text) { return split_at_spaces(text); };
  std::size_t made_up = 0, sentences = 0;
  for (std::int64_t i = 0; i < 500; ++i) {
    const GrammarPair pair = grammar_sentence(5, i, {.rare_names = 100, .spaced = true});
    const auto english = words(pair.english), chinese = words(pair.chinese);
    std::size_t here = 0;
    for (const std::string_view word : chinese) {
      const bool is_latin = word[0] >= 'A' && word[0] <= 'Z';
      if (!is_latin) continue;
      ++here;
      EXPECT_NE(std::ranges::find(english, word), english.end()) << pair.english << pair.chinese;
    }
    made_up += here;
    sentences += here > 0 ? 1 : 0;
    for (const GrammarPair::Link& link : pair.links) {
      EXPECT_LT(link.word, std::ssize(english));
      EXPECT_LT(link.character, std::ssize(chinese)) << "links are between words";
    }
  }
  EXPECT_GT(sentences, 150u);
  EXPECT_GT(made_up, sentences);
}

TEST(Grammar, SpacesChangeNothingElse) {
  const auto without_spaces = [](std::string text) {
    std::erase(text, ' ');
    return text;
  };
  for (std::int64_t i = 0; i < 300; ++i) {
    const GrammarPair plain = grammar_sentence(1, i);
    const GrammarPair spaced = grammar_sentence(1, i, {.spaced = true});
    EXPECT_EQ(without_spaces(spaced.english), without_spaces(plain.english));
    EXPECT_EQ(without_spaces(spaced.chinese), without_spaces(plain.chinese));
    EXPECT_TRUE(spaced.english.ends_with(" .") || spaced.english.ends_with(" ?"));
  }
}

}  // namespace
}  // namespace heed::grammar_test
