// The edits of TER: Levenshtein's, shifts, limits, beside sacreBLEU.
#include "heed/evaluation/edit_rate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "heed/base/random.h"
#include "heed/text/unicode.h"
#include "tests/support/score_golden.h"

namespace heed::evaluation {
namespace {

std::int64_t levenshtein(const std::u32string& a, const std::u32string& b) {
  std::vector<std::int64_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<std::int64_t>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::int64_t diagonal = row[0]++;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::int64_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

TEST(EditRate, CountsSimpleEdits) {
  EXPECT_EQ(count_edits(U"", U""), 0);
  EXPECT_EQ(count_edits(U"abc", U""), 3);
  EXPECT_EQ(count_edits(U"", U"abc"), 3);
  EXPECT_EQ(count_edits(U"abc", U"abc"), 0);
  EXPECT_EQ(count_edits(U"abc", U"axc"), 1);
  EXPECT_EQ(count_edits(U"abc", U"abcd"), 1);
  EXPECT_EQ(count_edits(U"abcd", U"abd"), 1);
}

TEST(EditRate, AShiftIsOneEdit) {
  EXPECT_EQ(count_edits(U"abcde", U"deabc"), 1);
  EXPECT_EQ(count_edits(U"abcdefgh", U"efghabcd"), 1);
  EXPECT_EQ(count_edits(U"abXcdY", U"Ycdab"), 3);
  // A block of more than ten words is not shifted whole.
  EXPECT_EQ(count_edits(U"abcdefghijklABCDEFGHIJKL", U"ABCDEFGHIJKLabcdefghijkl"), 2);
}

TEST(EditRate, HasSacrebleusLimits) {
  const auto rows = test::score_golden("metrics.json")["edits"].list();
  ASSERT_EQ(rows.size(), 26u);
  for (const auto& row : rows) {
    const std::u32string hypothesis = unicode::decode(row["hypothesis"].text());
    const std::u32string reference = unicode::decode(row["reference"].text());
    EXPECT_EQ(count_edits(hypothesis, reference), row["edits"].integer())
        << row["hypothesis"].text() << "\n"
        << row["reference"].text();
  }
}

TEST(EditRate, NeverMoreThanLevenshtein) {
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    const RandomStream random{.seed = 7, .stream = trial};
    std::u32string a, b;
    for (std::uint64_t i = 0; i < 12; ++i) {
      a += U'a' + random.below(2 * i, 4);
      b += U'a' + random.below(2 * i + 1, 4);
    }
    EXPECT_LE(count_edits(a, b), levenshtein(a, b));
    EXPECT_EQ(count_edits(a, a), 0);
  }
}

TEST(EditRate, LengthsMayBeVeryUnequal) {
  const std::u32string many(3000, U'a'), one = U"a";
  EXPECT_EQ(count_edits(one, many), 2999);
  EXPECT_EQ(count_edits(many, one), 2999);
  std::u32string text;
  for (char32_t c = 0; c < 2000; ++c) text += c;
  EXPECT_EQ(count_edits(text, text), 0);
}

}  // namespace
}  // namespace heed::evaluation
