// BLEU's tokenisers, on hostile lines beside sacreBLEU's.
#include "heed/evaluation/bleu_tokenizer.h"

#include <gtest/gtest.h>

#include "heed/evaluation/ngrams.h"
#include "heed/text/unicode.h"
#include "tests/support/score_golden.h"

namespace heed::evaluation {
namespace {

std::vector<std::string> words_of(const std::string& text, BleuTokenizer tokenizer) {
  const std::u32string line = tokenize(unicode::decode(text), tokenizer);
  std::vector<std::string> words;
  for (const std::u32string_view word : split_words(line)) words.push_back(unicode::encode(word));
  return words;
}

TEST(BleuTokenizer, IsSacrebleus) {
  const auto rows = test::score_golden("metrics.json")["tokens"].list();
  std::size_t compared = 0;
  for (const auto& row : rows) {
    for (const auto& entry : enum_names(BleuTokenizer{})) {
      if (entry.name != row["tokenizer"].text()) continue;
      EXPECT_EQ(words_of(row["text"].text(), entry.value), row["words"].texts()) << entry.name;
      ++compared;
    }
  }
  EXPECT_EQ(compared, rows.size());
}

TEST(BleuTokenizer, CutsNumbersOnlyAtTheirEnds) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(words_of("1,000.5.", BleuTokenizer::v13a), (Words{"1,000.5", "."}));
  EXPECT_EQ(words_of("3-4 a-b", BleuTokenizer::v13a), (Words{"3", "-", "4", "a-b"}));
  EXPECT_EQ(words_of("1,000.5.", BleuTokenizer::intl), (Words{"1,000.5."}));
  EXPECT_EQ(words_of("你好a。", BleuTokenizer::zh), (Words{"你", "好", "a", "。"}));
  EXPECT_EQ(words_of("é b", BleuTokenizer::character), (Words{"é", "b"}));
  EXPECT_EQ(words_of("a, b", BleuTokenizer::none), (Words{"a,", "b"}));
}

}  // namespace
}  // namespace heed::evaluation
