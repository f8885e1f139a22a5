// Attention of few queries against a plain computation in double: sizes around every vector length,
// heads that share keys, parts, masks, stages, and hidden values that must not leak.
#include "heed/kernels/attention/decode.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/threads.h"
#include "heed/kernels/convert.h"
#include "tests/kernels/attention/decode_problem.h"
#include "tests/support/isa_guard.h"
#include "tests/support/values.h"

namespace heed::kernels::decode_test {
namespace {

using heed::test::expect_close;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

void expect_equal(const Result& result, const Expected& expected, const Problem& p,
                  const std::string& what, double tolerance = 2e-6) {
  expect_close(result.output, expected.output, tolerance, what);
  if (p.of.normaliser != Normalise::softmax) return;
  for (std::size_t i = 0; i < expected.log.size(); ++i) {
    if (expected.log[i] == kHidden) {
      EXPECT_EQ(result.log[i], static_cast<float>(kHidden)) << what;
    } else {
      EXPECT_NEAR(result.log[i], expected.log[i], 1e-6 * std::max(1.0, std::abs(expected.log[i])))
          << what << ", log-sum-exp of row " << i;
    }
  }
}

// A case on every instruction set, in f32 and with keys and values rounded to bf16.
void check(const Case& c, const std::string& what, double tolerance = 2e-6) {
  Problem p(c);
  const Expected expected = expect(p);
  Problem rounded = p;
  std::vector<BFloat16> k(p.k.size()), v(p.v.size());
  convert(p.k, k);
  convert(p.v, v);
  convert(k, rounded.k);
  convert(v, rounded.v);
  const Expected of_rounded = expect(rounded);
  heed::test::for_each_isa([&](Isa isa) {
    const AttentionShape& s = c.shape;
    const std::string where = fmt::format("{} {} B {} H {} G {} Tq {} Tk {} D {} Dv {}", what,
                                          name_of(isa), s.B, s.H, s.G, s.Tq, s.Tk, s.D, s.Dv);
    expect_equal(decode(p), expected, p, where, tolerance);
    expect_equal(decode(rounded, k, v), of_rounded, rounded, where + " bf16", tolerance);
  });
}

AttentionShape shape(std::int64_t H, std::int64_t G, std::int64_t Tq, std::int64_t Tk,
                     std::int64_t D, std::int64_t Dv) {
  return {.B = 2, .H = H, .G = G, .Tq = Tq, .Tk = Tk, .D = D, .Dv = Dv};
}

TEST(AttentionDecode, EveryNumberOfFeatures) {
  for (const std::int64_t D : {1, 7, 17, 63, 64, 65, 128, 200, 512}) {
    for (const std::int64_t Dv : {1, 7, 17, 63, 64, 65, 128, 200, 512}) {
      check({.shape = shape(2, 2, 1, 37, D, Dv)}, "features");
    }
  }
}

TEST(AttentionDecode, EveryNumberOfQueriesAndHeadsThatShareKeys) {
  for (std::int64_t Tq = 1; Tq <= 5; ++Tq) {
    check({.shape = shape(8, 2, Tq, 70, 64, 64)}, "8:2");
    check({.shape = shape(3, 1, Tq, 70, 33, 40)}, "one kv head");
  }
  check({.shape = shape(8, 1, 35, 70, 16, 16)}, "many queries");
  check({.shape = shape(7, 1, 1, 70, 130, 150)}, "long rows");
}

TEST(AttentionDecode, EveryNumberOfKeys) {
  for (const std::int64_t Tk : {0, 1, 7, 16, 513, 1024, 1025, 5000}) {
    check({.shape = shape(4, 2, 2, Tk, 64, 32)}, "keys");
  }
}

TEST(AttentionDecode, ManyRowsTakeKeysInSeveralBlocks) {
  check({.shape = shape(16, 1, 16, 700, 24, 24)}, "rows");
  check({.shape = shape(16, 1, 16, 700, 24, 24), .modifiers = true, .reweights = true, .size = 20},
        "rows with stages", 1e-4);
}

TEST(AttentionDecode, NothingToDo) {
  for (const AttentionShape& s :
       {AttentionShape{.B = 0, .H = 2, .G = 1, .Tq = 1, .Tk = 3, .D = 4, .Dv = 4},
        shape(0, 0, 1, 3, 4, 4), shape(2, 1, 0, 3, 4, 4)}) {
    const Result result = decode(Problem({.shape = s}));
    EXPECT_EQ(result.output, std::vector<float>{heed::test::kGuard});
  }
}

TEST(AttentionDecode, LargeScores) {
  for (const float size : {10.0f, 100.0f, 1e30f}) {
    check({.shape = shape(4, 2, 2, 1500, 64, 64), .size = size}, "large", 1e-4);
  }
}

bool causal(const Place& at) { return at.j <= at.i + 1495; }
bool window(const Place& at) { return at.j > at.i + 1000 + 20 * at.h && at.j <= at.i + 1300; }
bool holes(const Place& at) {
  return (at.j / 3 + at.i + at.h) % 2 == 0 && at.j < 1400 - 600 * at.b;
}
bool first_row_blind(const Place& at) { return at.i > 0 || at.h == 1; }

TEST(AttentionDecode, Masks) {
  for (const bool exact : {true, false}) {
    check({.shape = shape(4, 2, 3, 1500, 17, 64), .may = causal, .exact = exact}, "causal");
    check({.shape = shape(4, 2, 3, 1500, 17, 64), .may = window, .exact = exact}, "window");
    check({.shape = shape(4, 2, 3, 90, 17, 64), .may = first_row_blind, .exact = exact}, "blind");
  }
  check({.shape = shape(4, 2, 3, 1500, 17, 64), .may = holes}, "holes");
}

// Without a norm, the terms of a sum are larger than it.
TEST(AttentionDecode, NormalisersAndSinks) {
  for (const Normalise normaliser : {Normalise::sigmoid, Normalise::none}) {
    check({.shape = shape(4, 2, 2, 1100, 16, 20), .normaliser = normaliser}, "pointwise", 1e-4);
    const AttentionShape s = shape(4, 2, 2, 90, 16, 20);
    check({.shape = s, .may = holes, .normaliser = normaliser}, "holes", 1e-5);
    check({.shape = s, .may = first_row_blind, .normaliser = normaliser}, "blind", 1e-5);
  }
  check({.shape = shape(4, 2, 2, 1100, 16, 20), .sinks = true}, "sinks");
  check({.shape = shape(4, 2, 2, 90, 16, 20), .may = first_row_blind, .sinks = true}, "sinks");
  check({.shape = shape(4, 2, 2, 0, 16, 20), .sinks = true}, "sinks alone");
}

TEST(AttentionDecode, Stages) {
  const AttentionShape s = shape(4, 2, 3, 1300, 17, 20);
  check({.shape = s, .modifiers = true}, "modify");
  check({.shape = s, .reweights = true}, "reweight");
  check({.shape = s, .may = holes, .modifiers = true, .reweights = true}, "all");
  check({.shape = s, .modifiers = true, .reweights = true, .normaliser = Normalise::sigmoid},
        "sigmoid", 1e-4);
  check({.shape = shape(2, 1, 19, 100, 17, 20), .modifiers = true, .reweights = true},
        "many queries");
}

TEST(AttentionDecode, WhatIsHiddenDoesNotLeak) {
  for (const Predicate& may : {Predicate(causal), Predicate(window), Predicate(holes)}) {
    Problem p({.shape = shape(2, 1, 3, 1500, 20, 33), .may = may});
    const Result clean = decode(p);
    const AttentionShape& s = p.of.shape;
    for (std::int64_t j = 0; j < s.Tk; ++j) {
      bool seen = false;
      for (Place at{0, 0, 0, j}; at.h < s.H; ++at.h) {
        for (at.i = 0; at.i < s.Tq; ++at.i) seen = seen || may(at);
      }
      if (seen) continue;
      const float poison = j % 2 == 0 ? kNaN : std::numeric_limits<float>::infinity();
      std::fill_n(p.k.data() + j * (s.D + 2), s.D, poison);
      std::fill_n(p.v.data() + j * (s.Dv + 3), s.Dv, poison);
    }
    heed::test::for_each_isa([&](Isa isa) {
      const Result poisoned = decode(p), now = decode(Problem(p.of));
      EXPECT_EQ(poisoned.output, now.output) << name_of(isa);
      EXPECT_EQ(poisoned.log, now.log) << name_of(isa);
    });
    EXPECT_EQ(decode(p).output, clean.output);
  }
}

// A key that is visible to one query and hidden from its neighbour.
TEST(AttentionDecode, AKeyHiddenFromOneQueryDoesNotReachIt) {
  const auto may = [](const Place& at) { return at.i == 0 || at.j != 5; };
  for (const bool exact : {false, true}) {
    Predicate mask = may;
    if (exact) mask = [](const Place& at) { return at.i == 0 || at.j > 5; };
    Problem p({.shape = shape(2, 1, 3, 40, 20, 33), .may = mask, .exact = exact});
    const Result clean = decode(p);
    const AttentionShape& s = p.of.shape;
    std::fill_n(p.v.data() + 5 * (s.Dv + 3), s.Dv, kNaN);
    std::fill_n(p.k.data() + 5 * (s.D + 2), s.D, kNaN);
    const Result result = decode(p);
    for (std::int64_t i = 0; i < p.outputs() * s.Dv; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const bool sees = i < s.H * s.Tq * s.Dv && i / s.Dv % s.Tq == 0;
      if (sees) {
        EXPECT_TRUE(std::isnan(result.output[at]));
      } else {
        EXPECT_NEAR(result.output[at], clean.output[at], 1e-6);
      }
    }
  }
}

TEST(AttentionDecode, SameBitsForAnyNumberOfThreadsAndAnyBatch) {
  const int before = num_threads();
  for (const bool stages : {false, true}) {
    Case c{.shape = shape(4, 1, 2, 9000, 32, 32), .modifiers = stages, .reweights = stages};
    const Problem p(c);
    set_num_threads(1);
    const Result one = decode(p);
    for (const int threads : {2, 3}) {
      set_num_threads(threads);
      const Result many = decode(p);
      EXPECT_EQ(many.output, one.output) << threads;
      EXPECT_EQ(many.log, one.log) << threads;
    }
    Problem alone = p;
    alone.of.shape.B = 1;
    const Result single = decode(alone);
    EXPECT_TRUE(std::equal(single.output.begin(), single.output.end() - 1, one.output.begin()));
  }
  set_num_threads(before);
}

// Two sequences one after another in memory, of 3 and 1 queries and 1100 and 20 keys.
TEST(AttentionDecode, PackedSequences) {
  const std::int64_t q_starts[] = {0, 3, 4}, k_starts[] = {0, 1100, 1120};
  AttentionProgram<float> program;
  program.shape = {.B = 2,
                   .H = 2,
                   .G = 1,
                   .Tq = 3,
                   .Tk = 1100,
                   .D = 8,
                   .Dv = 8,
                   .q_starts = q_starts,
                   .k_starts = k_starts};
  const std::vector<float> q = random_floats(4 * 2 * 8, 1), k = random_floats(1120 * 8, 2),
                           v = random_floats(1120 * 8, 3);
  std::vector<float> packed(q.size()), alone(q.size());
  const DecodeCall<float> call{{q.data(), 0, 8, 16, q_starts},
                               {k.data(), 0, 0, 8, k_starts},
                               {v.data(), 0, 0, 8, k_starts},
                               {packed.data(), 0, 8, 16, q_starts},
                               {}};
  attention_decode(program, call);
  for (std::int64_t b = 0; b < 2; ++b) {
    const std::int64_t row = q_starts[b] * 16, key = k_starts[b] * 8;
    program.shape = {.B = 1,
                     .H = 2,
                     .G = 1,
                     .Tq = q_starts[b + 1] - q_starts[b],
                     .Tk = k_starts[b + 1] - k_starts[b],
                     .D = 8,
                     .Dv = 8};
    attention_decode(program, DecodeCall<float>{{q.data() + row, 0, 8, 16, nullptr},
                                                {k.data() + key, 0, 0, 8, nullptr},
                                                {v.data() + key, 0, 0, 8, nullptr},
                                                {alone.data() + row, 0, 8, 16, nullptr},
                                                {}});
  }
  EXPECT_EQ(packed, alone);
}

TEST(AttentionDecode, ScoresDotProductsOfAllKeys) {
  const float additive = 1;
  AttentionProgram<float> program;
  EXPECT_TRUE(can_decode(program));
  program.additive = &additive;
  EXPECT_FALSE(can_decode(program));
  EXPECT_THROW(attention_decode(program, DecodeCall<float>{}), InternalError);
  program.additive = nullptr;
  program.top_k = 1;
  EXPECT_FALSE(can_decode(program));
  EXPECT_THROW(attention_decode(program, DecodeCall<float>{}), InternalError);
}

TEST(AttentionDecode, IsForFewQueries) {
  EXPECT_TRUE(decode_is_better(shape(8, 2, 1, 4096, 64, 64)));
  EXPECT_FALSE(decode_is_better(shape(8, 2, 512, 4096, 64, 64)));
  const std::int64_t starts[] = {0, 1, 200};
  AttentionShape packed = shape(8, 2, 1, 4096, 64, 64);
  packed.q_starts = starts;
  EXPECT_FALSE(decode_is_better(packed));
}

}  // namespace
}  // namespace heed::kernels::decode_test
