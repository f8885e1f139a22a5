// Pairs of texts in batches: both sides padded, rows that belong together, and streams that resume.
#include "heed/data/text_pairs.h"

#include <gtest/gtest.h>

namespace heed::text_pairs_test {
namespace {

using Ids = std::vector<std::int64_t>;

std::shared_ptr<const ParallelCorpus> corpus() {
  constexpr SpecialTokens kSpecial{.unknown = 0, .begin = 1, .end = 2, .padding = 9};
  auto pairs = std::make_shared<ParallelCorpus>(PairSpecials{kSpecial, kSpecial},
                                                CorpusOptions{.end_source = false});
  pairs->add(std::vector<std::int32_t>{4, 5, 6}, std::vector<std::int32_t>{7});
  pairs->add(std::vector<std::int32_t>{5}, std::vector<std::int32_t>{8, 4});
  pairs->add(std::vector<std::int32_t>{6, 6}, std::vector<std::int32_t>{5, 5});
  return pairs;
}

TEST(TextPairs, BothSidesArePadded) {
  const TextPairBatch batch = make_text_pairs(*corpus(), std::vector<std::int32_t>{1, 0});
  EXPECT_EQ(batch.first.tokens.to_vector<std::int64_t>(), (Ids{5, 9, 9, 4, 5, 6}));
  EXPECT_EQ(batch.first.lengths.to_vector<std::int64_t>(), (Ids{1, 3}));
  EXPECT_EQ(batch.second.tokens.to_vector<std::int64_t>(), (Ids{8, 4, 7, 9}));
  EXPECT_EQ(batch.second.lengths.to_vector<std::int64_t>(), (Ids{2, 1}));
}

TEST(TextPairs, AStreamResumes) {
  TextPairStream stream(corpus(), {.batch_sentences = 1}), other(corpus(), {.batch_sentences = 1});
  for (int i = 0; i < 4; ++i) stream.next();
  other.seek(stream.position());
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(stream.next().first.tokens.to_vector<std::int64_t>(),
              other.next().first.tokens.to_vector<std::int64_t>());
  }
}

}  // namespace
}  // namespace heed::text_pairs_test
