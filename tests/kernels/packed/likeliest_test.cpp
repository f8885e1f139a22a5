// The fused output layer against a product and a choice one after the other.
#include "heed/kernels/packed/likeliest.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/base/threads.h"
#include "heed/kernels/packed/pack.h"
#include "heed/kernels/packed/remainder.h"
#include "tests/support/isa_guard.h"
#include "tests/support/values.h"

namespace heed::kernels::packed_likeliest_test {
namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

// A packed matrix and its memory.
struct Packed {
  Packed(PackedForm form, std::int64_t out, std::int64_t in)
      : data(index(padded_out(out) / kPanelRows * panel_bytes(form, in))),
        scales(index(padded_out(out) * scale_groups(in))),
        sums(index(padded_out(out) * scale_groups(in))),
        matrix{form, out, in, data.data(), scales.data(), sums.data()} {
    pack(heed::test::random_floats(out * in, 1).data(), in, matrix);
  }
  std::vector<std::byte> data;
  std::vector<float> scales;
  std::vector<std::int32_t> sums;
  PackTarget matrix;
};

struct Found {
  std::vector<std::int32_t> tokens;
  std::vector<float> logits;
  std::vector<LogNormaliser<float>> normalisers;
};

struct Problem {
  const Packed& weight;
  std::int64_t rows, k;
  const std::vector<float>& x;
  const std::vector<float>& bias;
  std::vector<std::int64_t> starts = {};
  std::vector<std::int32_t> banned = {};
  bool renormalised = false;
  const std::int8_t* remainders = nullptr;

  PackedProduct product(float* y) const {
    return {.rows = rows,
            .x = x.data(),
            .x_stride = weight.matrix.in,
            .weight = weight.matrix,
            .y = y,
            .y_stride = weight.matrix.out,
            .bias = bias.data()};
  }
};

Found empty_result(const Problem& p) {
  return {std::vector<std::int32_t>(index(p.rows * p.k)), std::vector<float>(index(p.rows * p.k)),
          std::vector<LogNormaliser<float>>(index(p.rows))};
}

Found fused(const Problem& p) {
  Found found = empty_result(p);
  packed_likeliest({.scores = p.product(nullptr),
                    .remainders = p.remainders,
                    .k = p.k,
                    .banned_starts = p.starts.data(),
                    .banned = p.banned.data(),
                    .renormalised = p.renormalised,
                    .normalisers = found.normalisers.data(),
                    .tokens = found.tokens.data(),
                    .logits = found.logits.data()});
  return found;
}

std::vector<float> all_scores(const Problem& p) {
  std::vector<float> scores(index(p.rows * p.weight.matrix.out));
  packed_product(p.product(scores.data()));
  for (std::int64_t row = 0; row < p.rows && p.renormalised; ++row) {
    for (std::int64_t i = p.starts[index(row)]; i < p.starts[index(row + 1)]; ++i) {
      scores[index(row * p.weight.matrix.out + p.banned[index(i)])] =
          -std::numeric_limits<float>::infinity();
    }
  }
  return scores;
}

void compare(const Problem& p) {
  const std::int64_t V = p.weight.matrix.out;
  const std::vector<float> scores = all_scores(p);
  Found plain = empty_result(p);
  likeliest(LikeliestCall<float>{.rows = {p.rows, V},
                                 .k = p.k,
                                 .logits = scores.data(),
                                 .banned_starts = p.starts.data(),
                                 .banned = p.banned.data(),
                                 .normalisers = plain.normalisers.data(),
                                 .tokens = plain.tokens.data()});
  const Found found = fused(p);
  EXPECT_EQ(found.tokens, plain.tokens);
  for (std::int64_t i = 0; i < p.rows * p.k; ++i) {
    const std::int32_t token = found.tokens[index(i)];
    const float score = token == kNoToken ? -std::numeric_limits<float>::infinity()
                                          : scores[index(i / p.k * V + token)];
    ASSERT_EQ(found.logits[index(i)], score);
  }
  for (std::int64_t row = 0; row < p.rows; ++row) {
    const LogNormaliser<float>&a = found.normalisers[index(row)],
          &b = plain.normalisers[index(row)];
    ASSERT_EQ(a.shift, b.shift);
    ASSERT_NEAR(a.log_total, b.log_total, 1e-5);
  }
}

TEST(PackedLikeliest, EqualsProductAndChoice) {
  heed::test::for_each_isa([](Isa isa) {
    for (const PackedForm form : {PackedForm::f32, PackedForm::bf16, PackedForm::int8}) {
      for (const std::int64_t V : {1, 17, 511, 513, 5000}) {
        SCOPED_TRACE(fmt::format("{} {} {}", name_of(isa), name_of(form), V));
        const Packed weight(form, V, 24);
        const auto x = heed::test::random_floats(100 * 24, 2),
                   bias = heed::test::random_floats(V, 3);
        for (const std::int64_t rows : {1, 7, 100}) {
          Problem p{weight, rows, 4, x, bias};
          p.starts.assign(index(rows + 1), 0);
          compare(p);
          // The best token of each row is banned.
          const Found best = fused(p);
          for (std::int64_t row = 0; row < rows; ++row) {
            p.starts[index(row)] = row;
            p.banned.push_back(best.tokens[index(row * 4)]);
          }
          p.starts[index(rows)] = rows;
          compare(p);
          p.renormalised = true;
          compare(p);
        }
      }
    }
  });
}

TEST(PackedLikeliest, ARowDoesNotDependOnOthersNorOnThreads) {
  const Packed weight(PackedForm::int8, 3000, 40);
  const auto x = heed::test::random_floats(130 * 40, 2), bias = heed::test::random_floats(3000, 3);
  const int before = num_threads();
  set_num_threads(3);
  const Found all = fused({weight, 130, 3, x, bias, std::vector<std::int64_t>(131, 0)});
  set_num_threads(1);
  for (std::int64_t row = 0; row < 130; row += 13) {
    const std::vector<float> one(x.begin() + row * 40, x.begin() + (row + 1) * 40);
    const Found alone = fused({weight, 1, 3, one, bias, {0, 0}});
    EXPECT_EQ(alone.normalisers[0].shift, all.normalisers[index(row)].shift);
    EXPECT_EQ(alone.normalisers[0].log_total, all.normalisers[index(row)].log_total);
    for (std::int64_t i = 0; i < 3; ++i) {
      EXPECT_EQ(alone.tokens[index(i)], all.tokens[index(row * 3 + i)]);
      EXPECT_EQ(alone.logits[index(i)], all.logits[index(row * 3 + i)]);
    }
  }
  set_num_threads(before);
}

TEST(PackedLikeliest, NaNIsSeen) {
  const Packed weight(PackedForm::int8, 1000, 8);
  const std::vector<std::int8_t> remainders(8000, 0);
  std::vector<float> x = heed::test::random_floats(2 * 8, 2);
  const std::vector<float> bias(1000, 0.0f);
  x[11] = std::nanf("");
  for (const std::int8_t* const from :
       {static_cast<const std::int8_t*>(nullptr), remainders.data()}) {
    const Found found = fused({weight, 2, 1, x, bias, {0, 0, 0}, {}, false, from});
    EXPECT_FALSE(std::isnan(found.normalisers[0].log_total));
    EXPECT_TRUE(std::isnan(found.normalisers[1].log_total));
  }
}

// With what rounding left, an int8 matrix gives the choice and the log-probabilities of the f32
// matrix that it was made of.
TEST(PackedLikeliest, RemaindersGiveTheResultsOfF32) {
  constexpr std::int64_t kTokens = 3000, kSize = 130, kRows = 70, k = 4;
  const auto matrix = heed::test::random_floats(kTokens * kSize, 1);
  const auto x = heed::test::random_floats(kRows * kSize, 2);
  const auto bias = heed::test::random_floats(kTokens, 3);
  const Packed exact(PackedForm::f32, kTokens, kSize), rounded(PackedForm::int8, kTokens, kSize);
  std::vector<std::int8_t> remainders(matrix.size());
  find_remainders(matrix.data(), kSize, rounded.matrix, remainders.data());
  const std::vector<std::int64_t> none(kRows + 1, 0);
  heed::test::for_each_isa([&](Isa isa) {
    SCOPED_TRACE(name_of(isa));
    const Found best = fused({exact, kRows, k, x, bias, none});
    const Found refined = fused({rounded, kRows, k, x, bias, none, {}, false, remainders.data()});
    EXPECT_EQ(refined.tokens, best.tokens);
    EXPECT_NE(fused({rounded, kRows, k, x, bias, none}).tokens, best.tokens);
    for (std::int64_t i = 0; i < kRows * k; ++i) {
      const std::size_t row = index(i / k), at = index(i);
      const float log_p = refined.normalisers[row](refined.logits[at]);
      EXPECT_NEAR(log_p, best.normalisers[row](best.logits[at]), 2e-3);
      EXPECT_LE(log_p, 0.0f);
    }
  });
  const std::vector<float> one(x.begin() + 9 * kSize, x.begin() + 10 * kSize);
  const Found all = fused({rounded, kRows, k, x, bias, none, {}, false, remainders.data()});
  const Found alone = fused({rounded, 1, k, one, bias, {0, 0}, {}, false, remainders.data()});
  EXPECT_EQ(alone.normalisers[0].log_total, all.normalisers[9].log_total);
  EXPECT_EQ(alone.logits[k - 1], all.logits[10 * k - 1]);
}

// One score may exceed all others so far that nothing is left of their sum.
TEST(PackedLikeliest, RemaindersOfACertainOutput) {
  const Packed weight(PackedForm::int8, 600, 8);
  const std::vector<std::int8_t> remainders(4800, 0);
  const std::vector<float> x = heed::test::random_floats(8, 2);
  std::vector<float> bias(600, 0.0f);
  bias[77] = 1000.0f;
  const Found found = fused({weight, 1, 1, x, bias, {0, 0}, {}, false, remainders.data()});
  EXPECT_EQ(found.tokens[0], 77);
  EXPECT_EQ(found.normalisers[0](found.logits[0]), 0.0f);
}

}  // namespace
}  // namespace heed::kernels::packed_likeliest_test
