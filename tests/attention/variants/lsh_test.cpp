// LSH attention: full shared-QK attention where hashing hides nothing, and what hashing hides.
#include "heed/attention/variants/lsh.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/autograd/gradcheck.h"
#include "heed/ops/choose.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"
#include "heed/ops/reduce.h"
#include "heed/ops/softmax.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "tests/attention/variants/beams.h"
#include "tests/support/attention_weights.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::lsh_test {
namespace {

using test::max_relative_error;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor random(const Shape& shape, std::uint64_t seed) {
  Generator generator(seed);
  return normal(shape, 0.0, 1.0, generator);
}

// softmax(q . k / |k|) with k = q, a position itself only if nothing else: [B, H, T, T].
Tensor plain_weights(const LshAttention& layer, const AttentionInput& in, std::int64_t heads) {
  const Tensor q = split_heads(layer.qk_proj(in.x), heads);                     // [B, H, T, D]
  const Tensor k = q / sqrt(sum(square(q), {3}, {.keep_axes = true}) + 1e-12);  // [B, H, T, D]
  const std::int64_t T = in.x.size(1);
  const Tensor i = reshape(arange(T), {T, 1}), j = arange(T);
  Tensor scores = matmul(q, transpose(k));  // [B, H, T, T]
  scores = where(equal(i, j), scores - 1e5, scores);
  if (in.causal) scores = where(less_equal(j, i), scores, -kInfinity);
  if (in.lengths.defined()) {
    const Tensor there = less(reshape(j, {1, 1, 1, T}), reshape(in.lengths, {-1, 1, 1, 1}));
    scores = where(there, scores, -kInfinity);
  }
  return softmax(scores);
}

Tensor plain(const LshAttention& layer, const AttentionInput& in, std::int64_t heads) {
  const Tensor v = split_heads(layer.v_proj(in.x), heads);  // [B, H, T, D]
  return layer.out_proj(join_heads(matmul(plain_weights(layer, in, heads), v)));
}

TEST(LshAttention, OneBucketIsFullAttention) {
  for (const std::int64_t rounds : {1, 3}) {
    for (const std::int64_t T : {1, 9, 70}) {
      const LshAttention layer(
          {.embed = 16, .heads = 2, .buckets = 1, .chunk = 70, .rounds = rounds});
      const Tensor x = random({2, T, 16}, 1);
      for (const bool causal : {false, true}) {
        const AttentionInput in{.x = x, .causal = causal};
        EXPECT_LT(max_relative_error(layer(in), plain(layer, in, 2)), 1e-5)
            << rounds << " rounds, T " << T << ", causal " << causal;
        EXPECT_LT(max_relative_error(test::weights_of(layer, in), plain_weights(layer, in, 2)),
                  1e-5);
      }
    }
  }
}

TEST(LshAttention, OneBucketWithLengthsIsFullAttentionWithLengths) {
  const LshAttention layer({.embed = 16, .heads = 2, .buckets = 1, .chunk = 64, .rounds = 2});
  const AttentionInput in{.x = random({2, 20, 16}, 2), .lengths = from_values({20L, 13L}, {2})};
  const Tensor y = layer(in), expected = plain(layer, in, 2);
  EXPECT_LT(max_relative_error(select(y, 0, 0), select(expected, 0, 0)), 1e-5);
  EXPECT_LT(
      max_relative_error(slice(select(y, 0, 1), 0, 0, 13), slice(select(expected, 0, 1), 0, 0, 13)),
      1e-5);
}

// How often each pair is visible: [1, H, T, T].
Tensor times_seen(const LshConfig& config, const Tensor& q, bool causal) {
  const std::int64_t H = q.size(1), T = q.size(2);
  const Tensor directions = lsh_directions({.heads = H,
                                            .features = q.size(3),
                                            .rounds = config.rounds,
                                            .buckets = config.buckets,
                                            .seed = static_cast<std::uint64_t>(config.seed)});
  const LshOrder order = lsh_order(
      lsh_buckets(q, directions, config.rounds), {},
      {.buckets = config.buckets, .chunk = config.chunk, .causal = causal, .reach = config.reach});
  Tensor times = zeros({1, H, T, T});
  for (std::int64_t line = 0; line < config.rounds * H; ++line) {
    const std::int64_t* const at = order.order.data<std::int64_t>() + line * T;
    for (std::int64_t s = 0; s < T; ++s) {
      const std::int64_t first = order.first.data<std::int64_t>()[line * T + s];
      const std::int64_t last = order.last.data<std::int64_t>()[line * T + s];
      for (std::int64_t other = first; other < last; ++other) {
        times.mutable_data<float>()[(line % H * T + at[s]) * T + at[other]] += 1.0f;
      }
    }
  }
  return times;
}

// Each round alone is a softmax over its visible keys, and the shares of the rounds are their sums
// of e^s, so a pair that is visible in c rounds has c times its e^s; if pairs are unique, once.
TEST(LshAttention, RoundsAreOneSoftmaxOverThePairsThatTheyFind) {
  constexpr std::int64_t T = 40, H = 2;
  bool several = false;
  for (const LshReach reach : {LshReach::bucket, LshReach::chunk}) {
    for (const bool unique : {false, true}) {
      for (const bool causal : {false, true}) {
        const LshConfig config{.embed = 16,
                               .heads = H,
                               .buckets = 4,
                               .chunk = 8,
                               .rounds = 3,
                               .seed = 9,
                               .reach = reach,
                               .unique = unique};
        const LshAttention layer(config);
        const Tensor x = random({1, T, 16}, 3);
        const Tensor q = split_heads(layer.qk_proj(x), H);
        Tensor times = times_seen(config, q, causal);
        several = several || max(times).item() > 1.0;
        if (unique) times = minimum(times, ones({1}));
        const Tensor k = q / sqrt(sum(square(q), {3}, {.keep_axes = true}) + 1e-12);
        const Tensor i = reshape(arange(T), {T, 1}), j = arange(T);
        Tensor scores = matmul(q, transpose(k));
        scores = where(equal(i, j), scores - 1e5, scores) + log(times);  // -inf: never visible
        const AttentionInput in{.x = x, .causal = causal};
        EXPECT_LT(max_relative_error(test::weights_of(layer, in), softmax(scores)), 1e-5);
        const Tensor v = split_heads(layer.v_proj(x), H);
        EXPECT_LT(
            max_relative_error(layer(in), layer.out_proj(join_heads(matmul(softmax(scores), v)))),
            1e-5);
      }
    }
  }
  EXPECT_TRUE(several);
}

// All positions of two neighbouring chunks, whatever their bucket.
TEST(LshAttention, MixedReachIsEveryPairOfTwoChunks) {
  constexpr std::int64_t T = 22, kChunk = 4;
  const LshConfig config{
      .embed = 8, .heads = 1, .buckets = 4, .chunk = kChunk, .rounds = 1, .reach = LshReach::mixed};
  const LshAttention layer(config);
  const Tensor x = random({1, T, 8}, 3);
  const Tensor q = split_heads(layer.qk_proj(x), 1);
  const LshOrder order = lsh_order(
      lsh_buckets(q, lsh_directions({.heads = 1, .features = 8, .rounds = 1, .buckets = 4}), 1), {},
      {.buckets = 4, .chunk = kChunk});
  for (const bool causal : {false, true}) {
    const std::vector<float> weights =
        test::weights_of(layer, {.x = x, .causal = causal}).to_vector<float>();
    for (std::int64_t i = 0; i < T; ++i) {
      for (std::int64_t j = 0; j < T; ++j) {
        if (i == j) continue;
        const std::int64_t mine = order.place.data<std::int64_t>()[i] / kChunk;
        const std::int64_t its = order.place.data<std::int64_t>()[j] / kChunk;
        const bool wraps = mine == 0 && its == (T - 1) / kChunk;
        const bool sees = (its == mine || its == mine - 1 || wraps) && (!causal || j <= i);
        EXPECT_EQ(weights[static_cast<std::size_t>(i * T + j)] > 0.0f, sees) << i << " " << j;
      }
    }
  }
}

// The newest position has the result of a call on all positions so far.
TEST(LshAttention, StepsAreCallsOnThePositionsSoFar) {
  for (const LshReach reach : {LshReach::bucket, LshReach::chunk, LshReach::mixed}) {
    for (const bool unique : {false, true}) {
      if (unique && reach == LshReach::mixed) continue;
      LshAttention layer({.embed = 8,
                          .heads = 2,
                          .buckets = 4,
                          .chunk = 3,
                          .rounds = 3,
                          .head_size = 6,
                          .factor = 2,
                          .evaluation_rounds = 2,
                          .redraw = true,
                          .reach = reach,
                          .unique = unique});
      layer.eval();
      const Tensor x = random({2, 19, 8}, 12);
      for (const std::int64_t together : {1, 5}) {
        const auto state = layer.start({.batch = 2});
        for (std::int64_t t = 0, next = together; t < 19; t = next, next = t + 1) {
          const Tensor now = layer.step(slice(x, 1, t, next), *state);
          const Tensor whole = layer({.x = slice(x, 1, 0, next), .causal = true});
          EXPECT_LT(max_relative_error(slice(now, 1, next - t - 1, next - t),
                                       slice(whole, 1, next - 1, next)),
                    1e-5)
              << "reach " << static_cast<int>(reach) << ", position " << t;
        }
      }
    }
  }
}

TEST(LshAttention, TrainingDrawsNewHashesWhichAreAFunctionOfTheGenerator) {
  LshAttention layer(
      {.embed = 16, .heads = 2, .buckets = 8, .chunk = 8, .rounds = 2, .redraw = true});
  const Tensor x = random({1, 60, 16}, 13);
  const auto run = [&](std::uint64_t seed) {
    default_generator() = Generator(seed);
    const Tensor first = layer({.x = x});
    return std::pair(first, layer({.x = x}));
  };
  const auto [first, second] = run(1);
  const auto [again, more] = run(1);
  EXPECT_FALSE(test::same_bits(first, second));
  EXPECT_FALSE(test::same_bits(first, run(2).first));
  EXPECT_TRUE(test::same_bits(first, again) && test::same_bits(second, more));
  layer.eval();
  const auto [one, two] = run(1);
  EXPECT_TRUE(test::same_bits(one, two));
}

TEST(LshAttention, EvaluationHasItsOwnRounds) {
  const auto layer_of = [](std::int64_t rounds, std::optional<std::int64_t> evaluation) {
    Generator generator(6);
    return LshAttention({.embed = 16,
                         .heads = 2,
                         .buckets = 8,
                         .chunk = 8,
                         .rounds = rounds,
                         .evaluation_rounds = evaluation},
                        generator);
  };
  LshAttention both = layer_of(2, 5);
  const LshAttention two = layer_of(2, {}), five = layer_of(5, {});
  const AttentionInput in{.x = random({1, 60, 16}, 13)};
  EXPECT_TRUE(test::same_bits(both(in), two(in)));
  both.eval();
  EXPECT_TRUE(test::same_bits(both(in), five(in)));
}

TEST(LshAttention, FewerHeadsAtOnceGiveTheSameBits) {
  const auto run = [](std::int64_t at_once) {
    Generator generator(6);
    const LshAttention layer({.embed = 24,
                              .heads = 3,
                              .buckets = 4,
                              .chunk = 8,
                              .rounds = 2,
                              .redraw = true,
                              .unique = true,
                              .heads_at_once = at_once},
                             generator);
    default_generator() = Generator(2);
    Tensor x = random({2, 33, 24}, 14).requires_grad();
    const Tensor y = layer({.x = x, .lengths = from_values({33L, 20L}, {2}), .causal = true});
    sum(square(y)).backward();
    return std::vector<Tensor>{y.detach(), x.grad(), layer.qk_proj.weight.data.grad(),
                               layer.v_proj.weight.data.grad()};
  };
  const std::vector<Tensor> all = run(0);
  for (const std::int64_t at_once : {1, 2, 7}) {
    const std::vector<Tensor> some = run(at_once);
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_TRUE(test::same_bits(some[i], all[i])) << at_once << " heads, " << i;
    }
  }
}

TEST(LshAttention, MoreRoundsComeNearerToFullAttention) {
  double before = std::numeric_limits<double>::infinity();
  for (const std::int64_t rounds : {1, 4, 16}) {
    double error = 0.0;
    for (std::int64_t seed = 0; seed < 8; ++seed) {
      Generator generator(4);
      const LshAttention layer(
          {.embed = 16, .heads = 2, .buckets = 4, .chunk = 32, .rounds = rounds, .seed = seed},
          generator);
      const AttentionInput in{.x = 3.0 * random({2, 64, 16}, 5)};
      error += mean(abs(test::weights_of(layer, in) - plain_weights(layer, in, 2))).item();
    }
    EXPECT_LT(error, 0.8 * before) << rounds << " rounds";
    before = error;
  }
}

TEST(LshAttention, TheSeedDecidesEveryBit) {
  const auto run = [](std::int64_t seed) {
    Generator generator(6);
    const LshAttention layer(
        {.embed = 16, .heads = 2, .buckets = 8, .chunk = 8, .rounds = 2, .seed = seed}, generator);
    return layer({.x = random({2, 50, 16}, 7)});
  };
  EXPECT_TRUE(test::same_bits(run(1), run(1)));
  EXPECT_FALSE(test::same_bits(run(1), run(2)));
}

TEST(LshAttention, APositionAloneInItsBucketSeesItself) {
  const LshAttention layer({.embed = 4, .heads = 1, .buckets = 2, .chunk = 4, .rounds = 3});
  const Tensor x = random({1, 1, 4}, 8);
  EXPECT_EQ(test::weights_of(layer, {.x = x}).to_vector<float>(), (std::vector<float>{1.0f}));
  EXPECT_LT(max_relative_error(layer({.x = x}), layer.out_proj(layer.v_proj(x))), 1e-6);
}

TEST(LshAttention, TheFutureMovesRoundingAtMost) {
  const LshAttention layer({.embed = 16, .heads = 2, .buckets = 4, .chunk = 100, .rounds = 2});
  const std::int64_t T = 500, half = 250;
  const Tensor x = random({1, T, 16}, 10);
  const Tensor y = slice(layer({.x = x, .causal = true}), 1, 0, half);
  for (const double by : {30.0, std::numeric_limits<double>::quiet_NaN()}) {
    const Tensor first = reshape(less(arange(T), full({T}, half, DType::i64)), {1, T, 1});
    const Tensor other = where(first, x, by * random({1, T, 16}, 11));
    const Tensor z = slice(layer({.x = other, .causal = true}), 1, 0, half);
    EXPECT_LT(max_relative_error(z, y), 2e-6) << by;
  }
}

TEST(LshAttention, GradientsGoThroughSortAndRounds) {
  for (const LshReach reach : {LshReach::bucket, LshReach::chunk, LshReach::mixed}) {
    Generator generator(9);
    LshAttention layer({.embed = 8,
                        .heads = 2,
                        .buckets = 4,
                        .chunk = 4,
                        .rounds = 3,
                        .head_size = 3,
                        .reach = reach,
                        .unique = reach == LshReach::chunk,
                        .heads_at_once = reach == LshReach::chunk ? 1 : 0},
                       generator);
    layer.to(DType::f64);
    Tensor x = normal({1, 18, 8}, 0.0, 1.0, generator, DType::f64).requires_grad();
    for (const bool causal : {false, true}) {
      const auto f = [&](std::span<const Tensor> in) {
        return layer({.x = in[0], .causal = causal});
      };
      const GradCheckResult result = gradcheck(f, std::span(&x, 1));
      EXPECT_TRUE(result.ok) << result.message;
    }
  }
}

TEST(LshAttention, BeamsFollowTheirSequences) {
  const LshAttention layer({.embed = 8, .heads = 2, .buckets = 4, .chunk = 3, .rounds = 2});
  test::check_beams(layer, 8);
}

TEST(LshAttention, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] { LshAttention({.embed = 8, .heads = 2, .buckets = 5}); }),
            "[lsh] buckets 5: there are two for each direction, so it must be even, or 1");
  EXPECT_EQ(error_message([] { LshAttention({.embed = 9, .heads = 2}); }),
            "[lsh] embed 9 is not a multiple of heads 2");
  EXPECT_EQ(error_message([] { LshAttention({.embed = 8, .heads = 2, .factor = 3}); }),
            "[lsh] factor 3 with buckets 16: a bucket is a pair of hashes then, and both numbers "
            "must be even");
  EXPECT_EQ(error_message([] { LshAttention({.embed = 8, .heads = 2, .evaluation_rounds = 0}); }),
            "[lsh] rounds 4, evaluation_rounds 0: there must be at least one");
  EXPECT_EQ(error_message([] {
              LshAttention({.embed = 8, .heads = 2, .reach = LshReach::mixed, .unique = true});
            }),
            "[lsh] unique with reach = mixed: one round may find a pair twice there; use reach = "
            "chunk or bucket");
  LshAttention layer({.embed = 8, .heads = 2});
  EXPECT_EQ(error_message([&] {
              layer.set_directions(zeros({2, 4, 8}));
            }),
            "[lsh] directions f32 [2, 4, 8]: this layer needs f32 [2, 4, 32]");
  EXPECT_EQ(
      error_message([&] {
        layer({.x = zeros({2, 3, 8}), .memory = zeros({2, 5, 8})});
      }),
      "[lsh] a memory [2, 5, 8] is given: this layer attends to x itself; use one that takes a "
      "memory, such as multi_head");
}

}  // namespace
}  // namespace heed::lsh_test
