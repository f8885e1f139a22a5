// Parts of batches: together they are the batches, and positions count whole ones.
#include "heed/data/batch_parts.h"

#include <gtest/gtest.h>

#include <vector>

#include "heed/data/epoch_stream.h"

namespace heed::batch_parts_test {
namespace {

using Rows = std::vector<std::int32_t>;

// Epochs of three batches of 5, 2 and 9 rows, whose numbers are not repeated.
EpochStream<Rows> make_stream() {
  return EpochStream<Rows>({.plan =
                                [](std::int64_t epoch) {
                                  BatchPlan plan;
                                  auto next = static_cast<std::int32_t>(100 * epoch);
                                  for (const int size : {5, 2, 9}) {
                                    Rows rows;
                                    for (int i = 0; i < size; ++i) rows.push_back(next++);
                                    plan.add(rows);
                                  }
                                  return plan;
                                },
                            .make = [](std::span<const std::int32_t> rows,
                                       std::int64_t) { return Rows(rows.begin(), rows.end()); }});
}

void append(Rows& to, const std::optional<Rows>& part) {
  if (part) to.insert(to.end(), part->begin(), part->end());
}

TEST(BatchParts, TogetherAreTheBatches) {
  EpochStream<Rows> whole = make_stream(), parts = make_stream();
  parts.take_parts({.count = 4, .begin = 0, .end = 4});
  for (int batch = 0; batch < 7; ++batch) {
    Rows rows;
    for (int part = 0; part < 4; ++part) append(rows, parts.next_part());
    EXPECT_EQ(rows, whole.next());
    EXPECT_EQ(parts.position(), whole.position());
  }
}

TEST(BatchParts, OfSeveralReadersAreDisjoint) {
  std::vector<Rows> first(5), second(5);
  for (const bool is_first : {true, false}) {
    EpochStream<Rows> stream = make_stream();
    stream.take_parts(is_first ? BatchParts{.count = 3, .begin = 0, .end = 1}
                               : BatchParts{.count = 3, .begin = 1, .end = 3});
    for (std::size_t batch = 0; batch < 5; ++batch) {
      Rows& rows = is_first ? first[batch] : second[batch];
      for (int part = 0; part < (is_first ? 1 : 2); ++part) append(rows, stream.next_part());
    }
  }
  EpochStream<Rows> whole = make_stream();
  for (std::size_t batch = 0; batch < 5; ++batch) {
    first[batch].insert(first[batch].end(), second[batch].begin(), second[batch].end());
    EXPECT_EQ(first[batch], whole.next());
  }
}

// A group of two batches: the first part of both, then the second part of both. It may reach into
// the next epoch.
TEST(BatchParts, OfAGroupComePartByPart) {
  EpochStream<Rows> stream = make_stream();
  stream.seek({0, 2});
  stream.take_parts({.count = 2, .begin = 0, .end = 2, .batches = 2});
  EXPECT_EQ(stream.next_part(), (Rows{7, 8, 9, 10}));
  EXPECT_EQ(stream.next_part(), (Rows{100, 101}));
  EXPECT_EQ(stream.next_part(), (Rows{11, 12, 13, 14, 15}));
  EXPECT_EQ(stream.position(), (StreamPosition{0, 2})) << "the group is not complete";
  EXPECT_EQ(stream.next_part(), (Rows{102, 103, 104}));
  EXPECT_EQ(stream.position(), (StreamPosition{1, 1}));
  stream.seek({0, 2});
  EXPECT_EQ(stream.next_part(), (Rows{7, 8, 9, 10}));
}

TEST(BatchParts, WithoutRowsAreEmpty) {
  EpochStream<Rows> stream = make_stream();
  stream.seek({0, 1});
  stream.take_parts({.count = 8, .begin = 0, .end = 8});
  int empty = 0;
  for (int part = 0; part < 8; ++part) empty += stream.next_part() ? 0 : 1;
  EXPECT_EQ(empty, 6);
}

}  // namespace
}  // namespace heed::batch_parts_test
