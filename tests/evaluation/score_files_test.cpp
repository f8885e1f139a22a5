// Files to score: line ends, columns, broken text.
#include "heed/evaluation/score_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/file.h"
#include "tests/support/error_message.h"
#include "tests/support/gzip.h"
#include "tests/support/temp_dir.h"

namespace heed::evaluation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ScoreFiles : public testing::Test {
 protected:
  std::filesystem::path file(const std::string& bytes) {
    io::write_file(folder_ / "file", bytes);
    return folder_ / "file";
  }

 private:
  TempDir folder_;
};

TEST_F(ScoreFiles, LinesLoseWhiteSpaceAtTheirEnds) {
  EXPECT_THAT(read_lines(file("a \t\r\n\n b\u3000\u2028\nc")), ElementsAre("a", "", " b", "c"));
  EXPECT_THAT(read_lines(file("")), IsEmpty());
  EXPECT_THAT(read_lines(file(test::gzip("a\nb\n"))), ElementsAre("a", "b"));
}

TEST_F(ScoreFiles, AByteOrderMarkStaysAsInSacrebleu) {
  EXPECT_THAT(read_lines(file("\uFEFFa\n")), ElementsAre("\uFEFFa"));
}

TEST_F(ScoreFiles, ColumnsAreBetweenTabs) {
  EXPECT_THAT(read_columns(file("a\tb\nc\td\n")),
              ElementsAre(ElementsAre("a", "c"), ElementsAre("b", "d")));
  EXPECT_THAT(read_columns(file("a\tb\tc\n"), 2),
              ElementsAre(ElementsAre("a"), ElementsAre("b\tc")));
  EXPECT_THAT(read_columns(file("")), IsEmpty());
}

TEST_F(ScoreFiles, RefuseBrokenText) {
  EXPECT_THAT(error_message([&] { read_lines(file("fine\nb\xffroken\n")); }),
              HasSubstr("file:2: byte 2 of the line is not UTF-8"));
  EXPECT_THAT(error_message([&] { read_columns(file("a\tb\nc\n")); }),
              HasSubstr("file:2: the line has 1 tab-separated fields, there should be 2"));
  EXPECT_THAT(error_message([&] { read_columns(file("a\n"), 2); }), HasSubstr("file:1"));
  EXPECT_THAT(error_message([&] { read_columns(file("a\n"), 0); }), HasSubstr("0 columns"));
}

}  // namespace
}  // namespace heed::evaluation
