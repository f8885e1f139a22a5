// Streams of training batches: complete epochs, and exact continuation from any position.
#include "heed/data/batch_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "heed/base/random.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

using testing::HasSubstr;
using Row = std::vector<std::int32_t>;

// Each source begins with the number of its pair.
std::shared_ptr<const ParallelCorpus> some_corpus(int pairs) {
  auto corpus = std::make_shared<ParallelCorpus>(PairSpecials{}, CorpusOptions{});
  for (int i = 0; i < pairs; ++i) {
    const RandomStream random{4, static_cast<std::uint64_t>(i)};
    Row source(1 + random.below(0, 12), 9), target(1 + random.below(1, 12), 8);
    source[0] = 1000 + i;
    corpus->add(source, target);
  }
  return corpus;
}

bool same(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() &&
         std::ranges::equal(a.values<std::int64_t>(), b.values<std::int64_t>());
}

bool same(const Batch& a, const Batch& b) {
  return same(a.source, b.source) && same(a.target, b.target) && same(a.expected, b.expected) &&
         same(a.source_lengths, b.source_lengths) && same(a.target_lengths, b.target_lengths) &&
         a.source_tokens == b.source_tokens && a.target_tokens == b.target_tokens;
}

constexpr BatchingOptions kOptions = {.batch_tokens = 64, .seed = 5};

TEST(BatchStream, GivesEveryPairOnceAnEpoch) {
  BatchStream stream(some_corpus(300), kOptions);
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::map<std::int64_t, int> seen;
    do {
      const Batch batch = stream.next();
      for (std::int64_t row = 0; row < batch.source.size(0); ++row) {
        ++seen[batch.source
                   .values<std::int64_t>()[static_cast<std::size_t>(row * batch.source.size(1))]];
      }
    } while (stream.position().batch != 0);
    EXPECT_EQ(seen.size(), 300u);
    for (const auto& [_, times] : seen) EXPECT_EQ(times, 1);
    EXPECT_EQ(stream.position().epoch, epoch + 1);
  }
}

TEST(BatchStream, GoesOnExactlyFromAnyPosition) {
  const auto corpus = some_corpus(200);
  std::vector<Batch> batches;
  std::vector<StreamPosition> positions;
  BatchStream whole(corpus, kOptions);
  positions.push_back(whole.position());
  for (int i = 0; i < 120; ++i) {
    batches.push_back(whole.next());
    positions.push_back(whole.position());
  }
  ASSERT_GT(positions.back().epoch, 1) << "more than an epoch";
  BatchStream again(corpus, kOptions, 2);
  for (std::size_t start = 0; start + 5 < batches.size(); start += 7) {
    again.seek(positions[start]);
    for (std::size_t i = start; i < start + 5; ++i) {
      ASSERT_TRUE(same(again.next(), batches[i])) << "from " << start << ", batch " << i;
      ASSERT_EQ(again.position(), positions[i + 1]);
    }
  }
}

TEST(BatchStream, OutlivesWhoeverMadeTheCorpus) {
  BatchStream stream(some_corpus(50), kOptions);
  for (int i = 0; i < 30; ++i) EXPECT_GT(stream.next().source_tokens, 0);
}

TEST(BatchStream, RefusesAnEmptyCorpus) {
  EXPECT_THAT(error_message([] { BatchStream(some_corpus(0), kOptions); }),
              HasSubstr("the corpus has no pairs: 0 pairs kept"));
}

}  // namespace
}  // namespace heed
