#include "heed/kernels/attention/plan.h"

#include <fmt/format.h>

#include <set>

#include "tests/kernels/attention/attention_problem.h"

namespace heed::kernels::test {
namespace {

using Answers = TestMask::Answers;

// Every visible pair is in exactly one strip, and an open strip hides nothing.
void expect_covers(const TestMask* mask, const TestMask::Sees& sees, const Region& region,
                   std::int64_t lanes) {
  const KeyPlan plan(mask, region, lanes);
  std::set<std::pair<std::int64_t, std::int64_t>> pairs;
  KeyPlan::Strips strips;
  for (std::int64_t from = plan.begin(); from < plan.end(); from += kMaxTileKeys) {
    strips.clear();
    plan.cut(from, std::min(plan.end(), from + kMaxTileKeys), strips);
    for (const Strip& s : strips) {
      for (std::int64_t j = s.col; j < s.col + s.cols; ++j) {
        for (std::int64_t r = s.vector * lanes; r < (s.vector + s.vectors) * lanes; ++r) {
          if (r >= region.rows) continue;
          EXPECT_TRUE(pairs.emplace(r, j).second) << r << " " << j << " twice";
          if (s.kind == Strip::Kind::open) {
            EXPECT_TRUE(sees(region.batch, region.head, region.row + r, j)) << r << " " << j;
          }
          if (s.kind == Strip::Kind::edge) {
            EXPECT_EQ(sees(region.batch, region.head, region.row + r, j),
                      j >= plan.first()[r] && j < plan.last()[r]);
          }
        }
      }
    }
  }
  for (std::int64_t r = 0; r < region.rows; ++r) {
    for (std::int64_t j = 0; j < region.cols; ++j) {
      if (sees(region.batch, region.head, region.row + r, j)) {
        EXPECT_TRUE(pairs.count({r, j})) << r << " " << j << " left out";
      }
    }
  }
}

TEST(KeyPlan, CoversWhatIsVisibleOnce) {
  const TestMask::Sees masks[] = {
      [](auto, auto, auto i, auto j) { return j <= i; },
      [](auto, auto, auto i, auto j) { return j <= i && j > i - 50; },
      [](auto, auto, auto i, auto j) { return i % 3 != 1 && j > 60 - i; },
      [](auto, auto, auto, auto) { return false; },
      [](auto, auto, auto i, auto) { return i == 20; },
  };
  for (const auto& sees : masks) {
    for (const Answers answers : {Answers::exact, Answers::hull, Answers::nothing}) {
      const TestMask mask(sees, answers);
      for (const std::int64_t rows : {1, 7, 16, 48}) {
        for (const std::int64_t lanes : {4, 8, 16}) {
          expect_covers(&mask, sees, {0, 0, 13, rows, 0, 277}, lanes);
        }
      }
    }
  }
}

TEST(KeyPlan, WithoutAMaskIsOneOpenStrip) {
  const KeyPlan plan(nullptr, {0, 0, 0, 48, 0, 100}, 8);
  KeyPlan::Strips strips;
  plan.cut(plan.begin(), plan.end(), strips);
  ASSERT_EQ(strips.end() - strips.begin(), 1);
  EXPECT_EQ(strips.begin()->cols, 100);
  EXPECT_EQ(strips.begin()->vectors, 6);
}

// Under a causal mask, keys more than a strip after the diagonal are skipped.
TEST(KeyPlan, SkipsWhatIsHidden) {
  const TestMask causal([](auto, auto, auto i, auto j) { return j <= i; });
  const KeyPlan plan(&causal, {0, 0, 96, 48, 0, 1000}, 8);
  EXPECT_EQ(plan.begin(), 0);
  EXPECT_EQ(plan.end(), 144);
  KeyPlan::Strips strips;
  plan.cut(96, 144, strips);
  std::int64_t pairs = 0;
  for (const Strip& s : strips) pairs += s.cols * s.vectors * 8;
  EXPECT_EQ(pairs, 8 * 8 * (1 + 2 + 3 + 4 + 5 + 6));
}

TEST(KeyPlan, RunsJoinStripsOfTheSameVectors) {
  KeyPlan::Strips strips;
  strips.add({0, 8, 0, 6, Strip::Kind::mixed});
  strips.add({8, 16, 0, 6, Strip::Kind::open});
  strips.add({24, 8, 1, 5, Strip::Kind::edge});
  strips.add({40, 8, 1, 5, Strip::Kind::edge});
  std::vector<Strip> runs;
  strips.for_each_run([&](const Strip& run) { runs.push_back(run); });
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].cols, 24);
  EXPECT_EQ(runs[0].kind, Strip::Kind::mixed);
  EXPECT_EQ(runs[1].col, 24);
  EXPECT_EQ(runs[2].col, 40);
}

}  // namespace
}  // namespace heed::kernels::test
