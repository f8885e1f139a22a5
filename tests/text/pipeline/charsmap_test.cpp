// The rules of SentencePiece models; the golden file of unigram models has whole texts.
#include "heed/text/pipeline/charsmap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/file.h"
#include "heed/text/pipeline/spm_file.h"
#include "tests/support/error_message.h"
#include "tests/support/paths.h"

namespace heed::pipeline::charsmap_test {
namespace {

using testing::HasSubstr;

std::string rules() {
  return SpmFile::parse(io::read_file(test::golden_path("tokenizers/small.model"), 1 << 20),
                        "small")
      .charsmap;
}

TEST(Charsmap, FindsReplacements) {
  const Charsmap map(rules(), "test");
  EXPECT_EQ(map.replacement("½"), "1⁄2");
  EXPECT_EQ(map.replacement("\u0300"), "");
  EXPECT_EQ(map.replacement("x"), std::nullopt);
  EXPECT_EQ(map.replacement(""), std::nullopt);
}

TEST(Charsmap, AlignsReplacements) {
  AlignedText text = AlignedText::of("x½e\u0301");
  Charsmap(rules(), "test").normalize(text);
  EXPECT_EQ(text.text, "x1⁄2é");
  EXPECT_EQ(text.spans[1], (TextSpan{1, 3}));
  EXPECT_EQ(text.spans.back(), (TextSpan{3, 4}));
}

TEST(Charsmap, RefusesDamagedBytes) {
  const std::string good = rules();
  EXPECT_THAT(error_message([] { Charsmap("abc", "here"); }),
              HasSubstr("here is not a precompiled"));
  EXPECT_THAT(error_message([&] { Charsmap(good.substr(0, 40), "here"); }), HasSubstr("trie"));
  EXPECT_THAT(error_message([&] { Charsmap(good + "\xFF", "here"); }), HasSubstr("UTF-8"));
}

TEST(Charsmap, AnyTrieIsSafe) {
  std::string bytes = rules();
  for (std::size_t at = 4; at < bytes.size(); at += 7) {
    bytes[at] = static_cast<char>(bytes[at] ^ static_cast<char>(0x5A + at));
    try {
      const Charsmap map(bytes, "damaged");
      AlignedText text = AlignedText::of("½ﬁe\u0301\u0300Ａ㌔①ab");
      map.normalize(text);
      EXPECT_EQ(text.text.size(), text.spans.size());
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace heed::pipeline::charsmap_test
