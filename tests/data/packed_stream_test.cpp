// Streams from packed corpora: complete epochs, exact continuation, windows, and how well they mix.
#include "heed/data/packed_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>

#include "tests/data/packed_corpus.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed {
namespace {

using testing::HasSubstr;

constexpr PackedStreamOptions kOptions = {.batching = {.batch_tokens = 64, .seed = 5},
                                          .window = 60};

struct Packed {
  TempDir folder;
  std::shared_ptr<const PackedPairs> corpus;

  explicit Packed(std::int64_t pairs)
      : corpus(std::make_shared<PackedPairs>(test::packed_corpus(folder / "c", pairs))) {}

  // The numbers of the pairs of a batch.
  std::vector<std::int64_t> numbers(const Batch& batch) const {
    std::vector<std::int64_t> all;
    const auto tokens = batch.source.values<std::int64_t>();
    for (std::int64_t row = 0; row < batch.source.size(0); ++row) {
      const auto at = static_cast<std::size_t>(row * batch.source.size(1));
      const auto token = static_cast<std::int32_t>(tokens[at]);
      all.push_back(std::stoll(corpus->source()->decode({&token, 1})) - 1000);
    }
    return all;
  }
};

bool same(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() &&
         std::ranges::equal(a.values<std::int64_t>(), b.values<std::int64_t>());
}

bool same(const Batch& a, const Batch& b) {
  return same(a.source, b.source) && same(a.target, b.target) && same(a.expected, b.expected) &&
         a.source_tokens == b.source_tokens && a.target_tokens == b.target_tokens;
}

TEST(PackedStream, GivesEveryPairOnceAnEpoch) {
  const Packed packed(500);
  PackedStream stream(packed.corpus, kOptions);
  std::vector<std::vector<std::int64_t>> epochs;
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::vector<std::int64_t>& order = epochs.emplace_back();
    double share = 0.0;
    while (stream.position().epoch == epoch) {
      EXPECT_GE(stream.epoch_share(), share);
      share = stream.epoch_share();
      for (const std::int64_t number : packed.numbers(stream.next())) order.push_back(number);
    }
    EXPECT_EQ(order.size(), 500u);
    EXPECT_EQ(std::set(order.begin(), order.end()).size(), 500u);
    EXPECT_GT(share, 0.8);
  }
  EXPECT_NE(epochs[0], epochs[1]);
  EXPECT_EQ(packed_windows(*packed.corpus, 60), 8);
}

TEST(PackedStream, MakesTheBatchesOfACorpusInMemory) {
  const Packed packed(40);
  ParallelText text((packed.folder / "c.source"), packed.folder / "c.target");
  const ParallelCorpus memory =
      read_corpus(text, *packed.corpus->source(), *packed.corpus->target());
  PackedStream stream(packed.corpus, kOptions);
  for (int i = 0; i < 20; ++i) {
    const Batch batch = stream.next();
    std::vector<std::int32_t> pairs;
    for (const std::int64_t number : packed.numbers(batch)) {
      pairs.push_back(static_cast<std::int32_t>(number));
    }
    EXPECT_TRUE(same(batch, make_batch(memory, pairs)));
  }
}

TEST(PackedStream, GoesOnExactlyFromAnyPosition) {
  const Packed packed(300);
  std::vector<Batch> batches;
  std::vector<StreamPosition> positions;
  PackedStream whole(packed.corpus, kOptions);
  positions.push_back(whole.position());
  while (whole.position().epoch < 2) {
    batches.push_back(whole.next());
    positions.push_back(whole.position());
  }
  PackedStream again(packed.corpus, kOptions, 2);
  for (std::size_t start = 0; start + 5 < batches.size(); start += 7) {
    again.seek(positions[start]);
    for (std::size_t i = start; i < start + 5; ++i) {
      ASSERT_TRUE(same(again.next(), batches[i])) << "from " << start << ", batch " << i;
      ASSERT_EQ(again.position(), positions[i + 1]);
    }
  }
  EXPECT_THAT(error_message([&] { again.seek({.epoch = 0, .batch = 0, .window = 99}); }),
              HasSubstr("window 99 of epoch 0, which has 5"));
}

// The parts of all batches, taken by streams of their own, are the rows of the whole batches.
TEST(PackedStream, ReturnsParts) {
  const Packed packed(200);
  PackedStream whole(packed.corpus, kOptions);
  std::vector<std::unique_ptr<PackedStream>> ranks;
  for (int r = 0; r < 2; ++r) {
    ranks.push_back(std::make_unique<PackedStream>(packed.corpus, kOptions));
    ranks.back()->take_parts({.count = 2, .begin = r, .end = r + 1, .batches = 1});
  }
  for (int i = 0; i < 60; ++i) {
    const std::vector<std::int64_t> all = packed.numbers(whole.next());
    std::vector<std::int64_t> parts;
    for (const auto& rank : ranks) {
      if (const auto batch = rank->next_part()) {
        for (const std::int64_t number : packed.numbers(*batch)) parts.push_back(number);
      }
    }
    EXPECT_EQ(parts, all);
  }
}

// A quarter of the rows of all batches comes from about a quarter of the blocks of the window.
TEST(PackedStream, APartOfTheRowsNeedsAPartOfTheBlocks) {
  const Packed packed(4000);
  const PackedStreamOptions options{.batching = {.batch_tokens = 3000}, .window = 4000};
  const PackedWindow window = open_window(*packed.corpus, options, 0, 0);
  const BatchPlan plan = plan_window(window, options.batching, 0, 0);
  std::set<std::int64_t> read;
  for (std::int64_t batch = 0; batch < plan.size(); ++batch) {
    const auto rows = plan.rows(batch);
    for (std::size_t i = rows.size() / 4; i < rows.size() / 2; ++i) {
      read.insert(std::ranges::upper_bound(window.starts, rows[i]) - window.starts.begin());
    }
  }
  EXPECT_GT(plan.size(), 5);
  EXPECT_LT(static_cast<double>(read.size()) / static_cast<double>(window.blocks.size()), 0.45);
}

TEST(PackedStream, MixesBlocksOverTheEpoch) {
  const Packed packed(1000);
  PackedStream stream(packed.corpus, kOptions);
  double moved = 0.0;
  std::int64_t place = 0;
  while (stream.position().epoch == 0) {
    for (const std::int64_t number : packed.numbers(stream.next())) {
      moved += std::abs(static_cast<double>(number - place++));
    }
  }
  // A third of the corpus is the mean of a random order.
  EXPECT_NEAR(moved / 1000.0 / 1000.0, 1.0 / 3.0, 0.05);
}

TEST(PackedStream, NoticesDamagedTokensBeforeTheyAreUsed) {
  const Packed packed(40);
  const std::filesystem::path path = packed.folder / "c.packed/pairs-00000.bin";
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(PackedLayout::kHeaderBytes + 8 * PackedLayout::kLengthBytes);
    file.write("\x07\x00\x07", 3);
  }
  PackedStream stream(std::make_shared<PackedPairs>(packed.folder / "c.packed"), kOptions);
  EXPECT_THAT(error_message([&] {
                for (int i = 0; i < 40; ++i) stream.next();
              }),
              HasSubstr("the tokens of block 0 (byte 48) are damaged"));
}

TEST(PackedStream, NeedsAWindow) {
  const Packed packed(40);
  EXPECT_THAT(error_message([&] { PackedStream(packed.corpus, {.batching = {}, .window = 0}); }),
              HasSubstr("a window of 0 pairs"));
  EXPECT_EQ(packed_windows(*packed.corpus, 1 << 20), 1) << "a small corpus is one window";
  EXPECT_EQ(packed_windows(*packed.corpus, 1), packed.corpus->blocks());
}

}  // namespace
}  // namespace heed
