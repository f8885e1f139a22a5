// The content of SentencePiece models.
#include "heed/text/pipeline/spm_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/file.h"
#include "tests/support/error_message.h"
#include "tests/support/paths.h"

namespace heed::pipeline::spm_file_test {
namespace {

std::string small() { return io::read_file(test::golden_path("tokenizers/small.model"), 1 << 20); }

TEST(SpmFile, ReadsPiecesAndRules) {
  const SpmFile file = SpmFile::parse(small(), "small.model");
  EXPECT_EQ(file.pieces[0].text, "<unk>");
  EXPECT_EQ(file.pieces[0].kind, SpmFile::Kind::unknown);
  EXPECT_EQ(file.pieces[1].kind, SpmFile::Kind::control);
  EXPECT_LT(file.pieces.back().score, 0);
  EXPECT_EQ(file.model, SpmFile::Model::unigram);
  EXPECT_FALSE(file.byte_fallback);
  EXPECT_FALSE(file.charsmap.empty());
}

TEST(SpmFile, DamagedFilesAreErrors) {
  const std::string content = small();
  for (std::size_t size = 0; size < content.size(); size += 13) {
    try {
      SpmFile::parse(content.substr(0, size), "cut.model");
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("cut.model"));
    }
  }
  EXPECT_THAT(error_message([] { SpmFile::parse("text", "x.model"); }),
              testing::HasSubstr("x.model is not"));
}

}  // namespace
}  // namespace heed::pipeline::spm_file_test
