// The stages that use these functions are tested against double and differences in shaw_test.cpp;
// here are the cases that those tests do not cover.
#include "heed/kernels/attention/stages/relative.h"

#include <gtest/gtest.h>

#include "heed/base/arena.h"
#include "tests/kernels/attention/stages/stage_trial.h"

namespace heed::kernels::relative_test {
namespace {

constexpr std::int64_t kStride = 48;

// One feature; each row of the table is its distance plus 10.
struct Ramp {
  std::vector<float> values;
  RelativeTable<float> table;

  explicit Ramp(std::int64_t clip) {
    for (std::int64_t i = -clip; i <= clip; ++i) values.push_back(static_cast<float>(i + 10));
    table.values = values.data();
    table.clip = clip;
    table.features = 1;
  }
};

// A block of kStride queries against 64 keys, with one number per query.
struct OneBlock {
  Ramp ramp;
  Scratch<float> x, per_query, memory;
  Relative<float> numbers;
  RowBlock<float> block;
  Tile<float> tile;

  OneBlock(std::int64_t clip, float query, float score)
      : ramp(clip),
        x(relative_size(clip, kStride)),
        per_query(kStride),
        memory(64 * kStride),
        numbers{ramp.table, x.data(), kStride} {
    std::fill_n(per_query.data(), kStride, query);
    std::fill_n(memory.data(), 64 * kStride, score);
    block.rows = block.stride = kStride;
    tile.data = memory.data();
    tile.stride = tile.rows = kStride;
    tile.cols = 64;
  }
};

TEST(RelativeNumbers, EachKeyGetsTheNumberOfItsClippedDistance) {
  heed::test::for_each_isa([&](Isa isa) {
    for (const std::int64_t clip : {0, 1, 4, 16, 40}) {
      const OneBlock s(clip, 1.0f, 0.0f);
      relative_make(s.numbers, s.block, s.per_query.data(), 2.0f);
      relative_add_to(s.numbers, s.tile, 0);
      for (std::int64_t j = 0; j < 64; ++j) {
        for (std::int64_t i = 0; i < kStride; ++i) {
          const auto expected = static_cast<float>(2 * (std::clamp(j - i, -clip, clip) + 10));
          ASSERT_EQ(s.tile.at(j, i), expected)
              << name_of(isa) << ", " << clip << ", " << j << ", " << i;
        }
      }
    }
  });
}

TEST(RelativeNumbers, SumsCountEachKeyOnce) {
  heed::test::for_each_isa([&](Isa isa) {
    for (const std::int64_t clip : {0, 1, 4, 16, 40}) {
      const OneBlock s(clip, 0.0f, 1.0f);
      relative_clear(s.numbers);
      relative_sum(s.numbers, s.tile, 0);
      relative_close(s.numbers, s.block);
      relative_read(s.numbers, s.block, s.per_query.data());
      for (std::int64_t i = 0; i < kStride; ++i) {
        std::int64_t expected = 0;
        for (std::int64_t j = 0; j < 64; ++j) expected += std::clamp(j - i, -clip, clip) + 10;
        ASSERT_EQ(s.per_query[i], static_cast<float>(expected))
            << name_of(isa) << ", " << clip << ", " << i;
      }
    }
  });
}

TEST(RelativeNumbers, ScaleReachesEveryNumber) {
  heed::test::for_each_isa([&](Isa isa) {
    const Ramp ramp(4);
    const Scratch<float> x(relative_size(4, kStride)), to(kStride), tile(64 * kStride);
    const Scratch<float> factors(kStride);
    std::fill_n(to.data(), kStride, 0.0f);
    std::fill_n(tile.data(), 64 * kStride, 1.0f);
    for (std::int64_t i = 0; i < kStride; ++i) factors[i] = static_cast<float>(i);
    const Relative<float> numbers{ramp.table, x.data(), kStride};
    RowBlock<float> block;
    block.rows = block.stride = kStride;
    Tile<float> t;
    t.data = tile.data();
    t.stride = t.rows = kStride;
    t.cols = 64;
    relative_clear(numbers);
    relative_sum(numbers, t, 0);
    relative_scale(numbers, factors.data());
    relative_sum(numbers, t, 0);
    relative_close(numbers, block);
    relative_read(numbers, block, to.data());
    for (std::int64_t i = 0; i < kStride; ++i) {
      std::int64_t once = 0;
      for (std::int64_t j = 0; j < 64; ++j) {
        once += std::clamp<std::int64_t>(j - i, -4, 4) + 10;
      }
      ASSERT_EQ(to[i], static_cast<float>(once * (i + 1))) << name_of(isa) << ", " << i;
    }
  });
}

}  // namespace
}  // namespace heed::kernels::relative_test
