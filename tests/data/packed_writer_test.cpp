// Writing packed corpora: the pairs of the text, or nothing.
#include "heed/data/packed_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "heed/base/interrupt.h"
#include "heed/base/threads.h"
#include "heed/io/file.h"
#include "tests/data/packed_corpus.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

CorpusReport pack(const fs::path& prefix, const fs::path& folder, const PackingOptions& options) {
  const auto words = test::number_words(100);
  ParallelText text(prefix.string() + ".source", prefix.string() + ".target");
  return pack_pairs(text, {words, words}, folder, options);
}

TEST(PackPairs, SelectsAndCounts) {
  const TempDir folder;
  test::write_text(folder / "c", 100);
  std::int64_t told = 0;
  const CorpusReport report =
      pack(folder / "c", folder / "packed",
           {.max_length = 9, .max_ratio = 3.0, .progress = [&](std::int64_t n) { told = n; }});
  EXPECT_EQ(report.kept + report.too_long + report.bad_ratio, 100);
  EXPECT_GT(report.too_long, 0);
  EXPECT_GT(report.bad_ratio, 0);
  EXPECT_EQ(told, 100);
  const PackedPairs corpus(folder / "packed");
  EXPECT_EQ(corpus.info().pairs, report.kept);
  EXPECT_EQ(corpus.info().max_length, 9);
  EXPECT_EQ(corpus.info().source_tokens, report.source_tokens);
  std::vector<PairLength> lengths;
  for (std::int64_t block = 0; block < corpus.blocks(); ++block) {
    corpus.read_lengths(block, lengths);
  }
  std::int64_t source = 0;
  for (const PairLength& length : lengths) {
    source += length.source;
    EXPECT_LE(std::max(length.source, length.target), 9);
  }
  EXPECT_EQ(source, report.source_tokens);
}

TEST(PackPairs, WritesTheSameBytesWithAnyNumberOfThreads) {
  const TempDir folder;
  test::write_text(folder / "c", 100);
  const int before = num_threads();
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    pack(folder / "c", folder / std::to_string(threads), {.block_pairs = 16});
  }
  set_num_threads(before);
  EXPECT_EQ(io::read_file(folder / "1/pairs-00000.bin", 1 << 20),
            io::read_file(folder / "3/pairs-00000.bin", 1 << 20));
}

TEST(PackPairs, WritesLargeVocabulariesWithFourBytes) {
  const TempDir folder;
  constexpr std::int64_t kWords = 70000;
  const auto words = test::number_words(kWords);
  {
    std::ofstream source(folder / "s"), target(folder / "t");
    source << "70999 a\n";
    target << "70998\n";
  }
  ParallelText text(folder / "s", folder / "t");
  pack_pairs(text, {words, words}, folder / "packed");
  const PackedPairs corpus(folder / "packed");
  std::vector<std::int32_t> tokens;
  corpus.check_tokens(0);
  corpus.read_tokens(0, 0, 3, tokens);
  EXPECT_EQ(corpus.source()->decode(tokens), "70999 a 70998");
}

TEST(PackPairs, LeavesNothingIfItFails) {
  const TempDir folder;
  test::write_text(folder / "c", 100);
  {
    const InterruptScope scope([] { throw Interrupted(); });
    EXPECT_THROW(pack(folder / "c", folder / "packed", {}), Interrupted);
  }
  EXPECT_THAT(error_message([&] {
                pack(folder / "c", folder / "packed", {.max_length = 1, .max_ratio = 0.5});
              }),
              HasSubstr("max_ratio is 0.5"));
  std::ofstream(folder / "c.source", std::ios::app) << "one more\n";
  EXPECT_THAT(error_message([&] { pack(folder / "c", folder / "packed", {}); }),
              HasSubstr("c.source has more"));
  std::ofstream(folder / "d.source") << "";
  std::ofstream(folder / "d.target") << "";
  EXPECT_THAT(error_message([&] { pack(folder / "d", folder / "packed", {}); }),
              HasSubstr("there is nothing to pack: 0 lines"));
  EXPECT_THAT(error_message([&] { pack(folder / "c", folder / "packed", {.block_pairs = 5000}); }),
              HasSubstr("a block has 1 to 1024"));
  EXPECT_THAT(folder.names(), ElementsAre("c.source", "c.target", "d.source", "d.target"));
}

TEST(PackPairs, RefusesAFolderThatExists) {
  const TempDir folder;
  test::packed_corpus(folder / "c", 10);
  EXPECT_THAT(error_message([&] { pack(folder / "c", folder / "c.packed", {}); }),
              HasSubstr("exists already"));
  EXPECT_EQ(PackedPairs(folder / "c.packed").info().pairs, 10);
}

}  // namespace
}  // namespace heed
