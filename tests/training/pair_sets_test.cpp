#include "heed/training/pair_sets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/file.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::pair_sets_test {
namespace {

using testing::HasSubstr;

TEST(PairSets, AreTwoFilesOrOneWithTabs) {
  const TempDir dir;
  io::write_file(dir / "s", "a\nb\n");
  io::write_file(dir / "t", "x\ny\n");
  io::write_file(dir / "both", "a\tx\nb\ty\n");
  const std::vector<std::vector<std::string>> forms = {{(dir / "s").string(), (dir / "t").string()},
                                                       {(dir / "both").string()}};
  for (const std::vector<std::string>& sets : forms) {
    ParallelText text = open_pairs(sets, {});
    std::string read;
    for (TextPair pair; text.next(pair);) read += fmt::format("{}-{} ", pair.source, pair.target);
    EXPECT_EQ(read, "a-x b-y ");
  }
}

TEST(PairSets, WithoutPairsAreAnError) {
  const TempDir dir;
  io::write_file(dir / "empty", "");
  const ParallelText text = open_pairs({(dir / "empty").string()}, {});
  std::vector<std::string> notes;
  EXPECT_THAT(error_message([&] { note_corpus("empty", text, ParallelCorpus({}, {}), notes); }),
              HasSubstr("[train] empty: no pair of sentences is left; empty: "));
  EXPECT_EQ(notes.size(), 1u);
}

}  // namespace
}  // namespace heed::pair_sets_test
