#include "heed/data/duplicates.h"

#include <gtest/gtest.h>

#include <set>

#include "heed/text/unicode.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

TEST(Duplicates, AreBlocksZeroWordZeroWord) {
  const auto text = unicode::decode(duplicate_text({.examples = 40, .length = 7, .symbols = 100}));
  ASSERT_EQ(text.size(), 40u * 16 + 1);
  std::set<char32_t> symbols;
  for (std::size_t n = 0; n < 40 * 16; ++n) {
    const std::size_t place = n % 8;
    EXPECT_EQ(text[n] == U'\n', place == 0) << n;
    if (place > 0) symbols.insert(text[n]);
    EXPECT_TRUE(n % 16 < 8 || text[n] == text[n - 8]) << n;
  }
  EXPECT_GT(symbols.size(), 80u);
  EXPECT_LE(symbols.size(), 100u);
}

TEST(Duplicates, DependOnTheSeed) {
  EXPECT_EQ(duplicate_text({.examples = 3}), duplicate_text({.examples = 3}));
  EXPECT_NE(duplicate_text({.examples = 3}), duplicate_text({.examples = 3, .seed = 2}));
  EXPECT_EQ(error_message([] { duplicate_text({.symbols = 0}); }),
            "[corpus] 0 symbols: give a number from 1 to 1000");
}

}  // namespace
}  // namespace heed
