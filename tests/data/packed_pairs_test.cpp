// Folders of packed corpora: their blocks as one list, and what does not belong together.
#include "heed/data/packed_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/data/packed_corpus.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

TEST(PackedPairs, ListsTheBlocksOfAllFiles) {
  const TempDir folder;
  const fs::path packed = test::packed_corpus(folder / "c", 100);
  ASSERT_TRUE(is_packed(packed));
  EXPECT_FALSE(is_packed(folder.path()));
  EXPECT_FALSE(is_packed(folder / "c.source"));
  const PackedPairs corpus(packed);
  EXPECT_GT(corpus.info().checksums.size(), 1u) << "several files";
  std::int64_t pairs = 0, next = 1000;
  for (std::int64_t block = 0; block < corpus.blocks(); ++block) {
    pairs += corpus.pairs_of(block);
    std::vector<PairLength> lengths;
    corpus.read_lengths(block, lengths);
    corpus.check_tokens(block);
    std::int64_t first = 0;
    for (const PairLength& length : lengths) {
      std::vector<std::int32_t> word;
      corpus.read_tokens(block, first, 1, word);
      EXPECT_EQ(corpus.source()->decode(word), std::to_string(next++));
      first += length.source + length.target;
    }
  }
  EXPECT_EQ(pairs, 100);
  EXPECT_EQ(corpus.info().pairs, 100);
  EXPECT_EQ(corpus.source(), corpus.target()) << "one tokenizer";
  corpus.forget();
  corpus.check_tokens(0);
}

TEST(PackedPairs, HaveAFingerprintOfTheirContent) {
  const TempDir folder;
  const PackedPairs a(test::packed_corpus(folder / "a", 50));
  const PackedPairs b(test::packed_corpus(folder / "b", 50));
  const PackedPairs c(test::packed_corpus(folder / "c", 51));
  EXPECT_EQ(a.fingerprint(), b.fingerprint());
  EXPECT_NE(a.fingerprint(), c.fingerprint());
}

TEST(PackedPairs, RefuseFilesOfAnotherCorpus) {
  const TempDir folder;
  const fs::path a = test::packed_corpus(folder / "a", 100);
  const fs::path b = test::packed_corpus(folder / "b", 99);
  const auto with = [&](const std::string& name) {
    const fs::path mixed = folder / "mixed";
    fs::remove_all(mixed);
    fs::copy(a, mixed);
    fs::remove(mixed / name);
    if (fs::exists(b / name)) fs::copy(b / name, mixed / name);
    return error_message([&] { PackedPairs{mixed}; });
  };
  const std::string last = packed_name(std::ssize(PackedPairs(a).info().checksums) - 1);
  EXPECT_THAT(with(last), HasSubstr("it belongs to another corpus"));
  EXPECT_THAT(with(kPackedSource), HasSubstr("the tokenizers have 106 and 107 tokens"));
  fs::remove(b / last);
  EXPECT_THAT(with(last), HasSubstr(last)) << "a missing file is named";
  EXPECT_THAT(error_message([&] { PackedPairs{folder.path()}; }),
              HasSubstr("it has no corpus.json; `heed corpus pack` makes one"));
}

TEST(PackedPairs, RefuseABadDescription) {
  const TempDir folder;
  const fs::path packed = test::packed_corpus(folder / "a", 20);
  const auto with = [&](const std::string& text) {
    std::ofstream(packed / kPackedInfo) << text;
    return error_message([&] { PackedPairs{packed}; });
  };
  EXPECT_THAT(with("{}"), HasSubstr("heed_packed_pairs is 0: this heed reads version 1"));
  EXPECT_THAT(with(R"({"heed_packed_pairs": 2})"), HasSubstr("reads version 1"));
  EXPECT_NE(with(R"({"heed_packed_pairs": 1, "pairs": -4})"), "(no error)");
  EXPECT_NE(with("pairs"), "(no error)");
}

}  // namespace
}  // namespace heed
