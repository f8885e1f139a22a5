// What observers return, against weights obtained with unit vectors as values, in double.
#include "heed/attention/stages/observers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/attention/attention.h"
#include "heed/attention/decode.h"
#include "heed/attention/masks.h"
#include "heed/attention/masks/mask_fn.h"
#include "heed/attention/stages.h"
#include "heed/autograd/tape.h"
#include "heed/kernels/reference/attention.h"
#include "heed/ops/index.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/support/error_message.h"
#include "tests/support/isa_guard.h"
#include "tests/support/op_case.h"

namespace heed::observers_test {
namespace {

using test::max_relative_error;
using test::same_bits;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t B = 2, H = 4, G = 2, D = 8;

struct Operands {
  Tensor q, k, v;
};

Operands operands(std::int64_t Tq, std::int64_t Tk, DType dtype = DType::f32) {
  Generator generator(5);
  const auto draw = [&](const Shape& shape) {
    return cast_data(normal(shape, 0.0, 1.0, generator), dtype);
  };
  return {draw({B, H, Tq, D}), draw({B, G, Tk, D}), draw({B, G, Tk, 5})};
}

// The weights that values are multiplied with, [B, H, Tq, Tk].
Tensor read_weights(const Operands& x, const AttentionSpec& spec) {
  const std::int64_t Tk = x.k.size(2);
  Tensor unit = zeros({Tk, Tk}, DType::f64);
  for (std::int64_t j = 0; j < Tk; ++j) unit.mutable_data<double>()[j * Tk + j] = 1.0;
  const kernels::reference::PlainAttention on_the_twin;
  return attention(cast_data(x.q, DType::f64), cast_data(x.k, DType::f64),
                   view::expand(unit, {B, G, Tk, Tk}), spec);
}

Tensor chosen(const Tensor& pairs, const Observed& who) {
  Tensor result = pairs;
  const auto pick = [&](int axis, const std::vector<std::int64_t>& listed) {
    if (listed.empty()) return;
    const Shape shape{static_cast<std::int64_t>(listed.size())};
    result = index_select(result, axis, from_values<std::int64_t>(listed, shape));
  };
  pick(1, who.heads);
  pick(2, who.rows);
  return result;
}

std::vector<Mask> all_masks() {
  return {Mask(), causal(Corner::bottom_right), key_lengths({3, 11}) & causal(Corner::offset(2)),
          mask_fn([](int, int h, int i, int j) { return (i * 7 + j * 3 + h) % 5 < 2; })};
}

// Few queries take the decoding path, many the tiles.
constexpr std::int64_t kQueries[] = {5, 140};

TEST(Observers, WeightsAreThoseOfThePlainOne) {
  for (const std::int64_t Tq : kQueries) {
    for (const Mask& mask : all_masks()) {
      for (const Observed& who :
           {Observed{}, Observed{.heads = {3, 1}}, Observed{.heads = {2}, .rows = {4, 0}}}) {
        const AttentionSpec spec{.modifiers = {soft_cap(3.0)}, .mask = mask};
        const Tensor expected = chosen(read_weights(operands(Tq, 70), spec), who);
        for (const DType dtype : {DType::f64, DType::f32}) {
          const Operands x = operands(Tq, 70, dtype);
          test::for_each_isa([&](Isa) {
            Tensor weights;
            AttentionSpec observed = spec;
            observed.observers = {observe_weights(weights, who)};
            attention(x.q, x.k, x.v, observed);
            EXPECT_LE(max_relative_error(cast_data(weights, DType::f64), expected),
                      dtype == DType::f64 ? 1e-14 : 2e-6)
                << mask.name();
          });
        }
      }
    }
  }
}

TEST(Observers, WeightsBeforeDropoutAndAfter) {
  for (const std::int64_t Tq : kQueries) {
    const Operands x = operands(Tq, 70);
    const AttentionSpec plain{.mask = causal(Corner::offset(30))};
    AttentionSpec spec = plain;
    spec.reweights = {weight_dropout(0.4, 3)};
    Tensor before, after;
    AttentionSpec observed = spec;
    observed.observers = {observe_weights(after, {}, WeightsAt::read), observe_weights(before)};
    attention(x.q, x.k, x.v, observed);
    EXPECT_LE(max_relative_error(cast_data(before, DType::f64), read_weights(x, plain)), 2e-6);
    EXPECT_LE(max_relative_error(cast_data(after, DType::f64), read_weights(x, spec)), 2e-6);
    EXPECT_GT(max_relative_error(after, before), 0.01);
  }
}

TEST(Observers, ChangeNoBitAndStayOffTheTape) {
  for (const std::int64_t Tq : kQueries) {
    for (const std::vector<Modifier>& modify : {std::vector<Modifier>{}, {soft_cap(3.0)}}) {
      const auto run = [&](const std::vector<Observer>& observe) {
        Operands x = operands(Tq, 70);
        for (Tensor* const t : {&x.q, &x.k, &x.v}) t->requires_grad();
        const Tensor y =
            attention(x.q, x.k, x.v, {.modifiers = modify, .mask = causal(), .observers = observe});
        backward(y, ones(y.shape()));
        return std::vector<Tensor>{y, x.q.grad(), x.k.grad(), x.v.grad()};
      };
      Tensor weights, read, scores, sums;
      TopWeights top;
      const std::vector<Tensor> alone = run({});
      const std::vector<Tensor> seen =
          run({observe_weights(weights), observe_weights(read, {.heads = {0}}, WeightsAt::read),
               observe_scores(scores), observe_log_sum_exp(sums), observe_top_weights(top, 3)});
      for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(same_bits(seen[i], alone[i])) << i;
      for (const Tensor& x : {weights, read, scores, sums, top.values, top.keys}) {
        EXPECT_FALSE(x.tracks_grad());
      }
    }
  }
}

TEST(Observers, ScoresAfterAnyNumberOfModifiers) {
  for (const std::int64_t Tq : kQueries) {
    const Operands x = operands(Tq, 70);
    const Operands wide = operands(Tq, 70, DType::f64);
    const auto spec_in = [](DType dtype) {
      return AttentionSpec{.modifiers = {soft_cap(2.0), alibi(alibi_slopes(H, dtype))},
                           .mask = causal(Corner::offset(4))};
    };
    const auto observe = [&](const Operands& on, DType dtype) {
      std::vector<Tensor> scores(4);
      AttentionSpec spec = spec_in(dtype);
      spec.observers = {observe_scores(scores[0], {}, 0), observe_scores(scores[1], {}, 1),
                        observe_scores(scores[2], {}, 2), observe_scores(scores[3])};
      attention(on.q, on.k, on.v, spec);
      return scores;
    };
    const std::vector<Tensor> in_double = observe(wide, DType::f64);
    const std::vector<Tensor> scores = observe(x, DType::f32);
    EXPECT_TRUE(same_bits(scores[2], scores[3]));
    Tensor alone;  // without modifiers, tiles hold base-2 logarithms
    attention(x.q, x.k, x.v,
              {.mask = causal(Corner::offset(4)), .observers = {observe_scores(alone)}});
    EXPECT_LE(max_relative_error(cast_data(alone, DType::f64), in_double[0]), 4e-6);
    for (std::size_t n = 0; n < 4; ++n) {
      EXPECT_LE(max_relative_error(cast_data(scores[n], DType::f64), in_double[n]), 4e-6) << n;
    }
    const auto at = [&](std::size_t n, std::int64_t b, std::int64_t h, std::int64_t i,
                        std::int64_t j) {
      return in_double[n].data<double>()[((b * H + h) * Tq + i) * 70 + j];
    };
    for (const auto& [i, j] : {std::pair{0, 0}, {0, 5}, {3, 7}, {4, 1}}) {
      double dot = 0.0;
      for (std::int64_t d = 0; d < D; ++d) {
        dot += wide.q.data<double>()[((H + 3) * Tq + i) * D + d] *
               wide.k.data<double>()[((G + 1) * 70 + j) * D + d];
      }
      if (j > i + 4) {
        for (std::size_t n = 0; n < 4; ++n) EXPECT_EQ(at(n, 1, 3, i, j), -kInfinity);
        continue;
      }
      const double score = dot / std::sqrt(static_cast<double>(D));
      const double capped = 2.0 * std::tanh(score / 2.0);
      const double slope = alibi_slopes(H, DType::f64).to_vector<double>()[3];
      EXPECT_NEAR(at(0, 1, 3, i, j), score, 1e-12);
      EXPECT_NEAR(at(1, 1, 3, i, j), capped, 1e-12);
      EXPECT_NEAR(at(2, 1, 3, i, j), capped - slope * std::abs(i - j), 1e-12);
    }
  }
}

TEST(Observers, TopWeightsInOrderWithTies) {
  const Tensor q = ones({1, 1, 2, 1});
  const Tensor k = from_values<float>({0, 2, 1, 2, -1, 1}, {1, 1, 6, 1});
  for (const DType dtype : {DType::f32, DType::f64}) {
    const auto in = [&](const Tensor& x) { return cast_data(x, dtype); };
    TopWeights top;
    attention(in(q), in(k), in(k),
              {.mask = causal(Corner::offset(2)), .observers = {observe_top_weights(top, 4)}});
    EXPECT_EQ(top.keys.to_vector<std::int64_t>(),
              (std::vector<std::int64_t>{1, 2, 0, -1, 1, 3, 2, 0}));
    const std::vector<double> values = cast_data(top.values, DType::f64).to_vector<double>();
    const double total = 2 * std::exp(2.0) + std::exp(1.0) + 1.0;
    EXPECT_EQ(values[3], 0.0);
    EXPECT_NEAR(values[4], std::exp(2.0) / total, 1e-6);
    EXPECT_EQ(values[4], values[5]);
    EXPECT_NEAR(values[7], 1.0 / total, 1e-6);
  }
}

TEST(Observers, TopWeightsAreTheLargestOfAll) {
  for (const std::int64_t Tq : kQueries) {
    const Operands x = operands(Tq, 70);
    const Observed who{.heads = {2, 0}, .rows = {3, 1, 4}};
    Tensor weights;
    TopWeights top;
    attention(x.q, x.k, x.v,
              {.observers = {observe_weights(weights, who), observe_top_weights(top, 5, who)}});
    ASSERT_EQ(top.values.shape(), Shape({B, 2, 3, 5}));
    std::vector<float> all = weights.to_vector<float>();
    const std::vector<float> values = top.values.to_vector<float>();
    const std::vector<std::int64_t> keys = top.keys.to_vector<std::int64_t>();
    for (std::size_t row = 0; row < B * 2 * 3; ++row) {
      for (std::size_t n = 0; n < 5; ++n) {
        EXPECT_EQ(values[row * 5 + n], all[row * 70 + static_cast<std::size_t>(keys[row * 5 + n])]);
      }
      std::sort(all.begin() + static_cast<std::ptrdiff_t>(row * 70),
                all.begin() + static_cast<std::ptrdiff_t>(row * 70 + 70), std::greater<>());
      for (std::size_t n = 0; n < 5; ++n) EXPECT_EQ(values[row * 5 + n], all[row * 70 + n]);
    }
  }
}

TEST(Observers, LogSumExpIsTheOneReturned) {
  const Operands x = operands(20, 30);
  Tensor sums;
  const auto [y, lse] =
      attention_with_log_sum_exp(x.q, x.k, x.v, {.observers = {observe_log_sum_exp(sums)}});
  EXPECT_TRUE(same_bits(sums, lse));
  Tensor again;
  attention(x.q, x.k, x.v, {.observers = {observe_log_sum_exp(again)}});
  EXPECT_TRUE(same_bits(again, lse));
}

TEST(Observers, PackedSequences) {
  const PackedLengths lengths{{0, 12, 12, 50}, {0, 20, 25, 60}};
  Generator generator(2);
  const Tensor q = normal({50, H, D}, 0.0, 1.0, generator);
  const Tensor k = normal({60, G, D}, 0.0, 1.0, generator);
  const Tensor v = normal({60, G, 3}, 0.0, 1.0, generator);
  Tensor weights, scores, sums;
  const AttentionSpec spec{
      .mask = causal(),
      .observers = {observe_weights(weights), observe_scores(scores), observe_log_sum_exp(sums)}};
  const auto [y, lse] = attention_packed_with_log_sum_exp(q, k, v, lengths, spec);
  EXPECT_TRUE(same_bits(sums, lse));
  ASSERT_EQ(weights.shape(), Shape({3, H, 38, 35}));
  const Tensor all = weights, all_scores = scores;
  for (std::size_t b = 0; b < 3; ++b) {
    const auto part = [&](const Tensor& x, const std::vector<std::int64_t>& starts) {
      const Tensor rows = view::slice(x, 0, starts[b], starts[b + 1]);
      return contiguous_copy(view::unsqueeze(view::transpose(rows, 0, 1), 0));
    };
    attention(part(q, lengths.q_starts), part(k, lengths.k_starts), part(v, lengths.k_starts),
              spec);
    const std::int64_t Tq = weights.size(2), Tk = weights.size(3);
    const auto own = [&](const Tensor& x, double beyond, const Tensor& expected) {
      const auto i = static_cast<std::int64_t>(b);
      Tensor rest = clone_data(view::slice(x, 0, i, i + 1));
      Tensor inside = view::slice(view::slice(rest, 2, 0, Tq), 3, 0, Tk);
      EXPECT_LE(max_relative_error(inside, expected), 2e-6) << "sequence " << b;
      copy_into(inside, full({}, beyond));
      EXPECT_TRUE(same_bits(rest, full(rest.shape(), beyond))) << "sequence " << b;
    };
    own(all, 0.0, weights);
    own(all_scores, -kInfinity, scores);
  }
}

TEST(Observers, WhatIsHiddenIsNotShown) {
  Operands x = operands(20, 30);
  Tensor tail = view::slice(x.k, 2, 20, 30);
  copy_into(tail, full({}, std::numeric_limits<double>::quiet_NaN()));
  Tensor weights, scores;
  attention(x.q, x.k, x.v,
            {.mask = key_lengths({20, 20}),
             .observers = {observe_weights(weights), observe_scores(scores)}});
  EXPECT_TRUE(same_bits(view::slice(weights, 3, 20, 30), zeros({B, H, 20, 10})));
  EXPECT_TRUE(same_bits(view::slice(scores, 3, 20, 30), full({B, H, 20, 10}, -kInfinity)));
}

TEST(Observers, InDecoding) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    for (const std::int64_t Tq : {1, 3, 20}) {
      Operands x = operands(Tq, 1100);
      KvCache cache({.batch = B, .heads = G, .features = D, .value_features = 5, .dtype = dtype});
      cache.append(x.k, x.v);
      x.k = cast_data(cache.keys(), DType::f32);
      const AttentionSpec spec{.modifiers = {soft_cap(3.0)}, .mask = causal(Corner::bottom_right)};
      AttentionSpec observed = spec;
      Tensor weights, sums;
      TopWeights top;
      observed.observers = {observe_weights(weights, {.heads = {1, 2}}), observe_log_sum_exp(sums),
                            observe_top_weights(top, 2)};
      EXPECT_TRUE(
          same_bits(attention_decode(x.q, cache, observed), attention_decode(x.q, cache, spec)));
      const Tensor expected = chosen(read_weights(x, spec), {.heads = {1, 2}});
      EXPECT_LE(max_relative_error(cast_data(weights, DType::f64), expected), 2e-6);
      EXPECT_EQ(sums.shape(), Shape({B, H, Tq}));
      EXPECT_EQ(top.keys.shape(), Shape({B, H, Tq, 2}));
    }
  }
}

TEST(Observers, EmptySizesAreLegal) {
  for (const auto& [Tq, Tk] : {std::pair{0, 5}, {5, 0}, {20, 0}}) {
    const Operands x = operands(Tq, Tk);
    Tensor weights, scores;
    TopWeights top;
    attention(x.q, x.k, x.v,
              {.observers = {observe_weights(weights), observe_scores(scores),
                             observe_top_weights(top, 2)}});
    EXPECT_EQ(weights.shape(), Shape({B, H, Tq, Tk}));
    EXPECT_EQ(scores.shape(), Shape({B, H, Tq, Tk}));
    EXPECT_TRUE(same_bits(top.keys, full({B, H, Tq, 2}, -1, DType::i64)));
  }
}

TEST(Observers, WrongUseSaysWhatIsWrong) {
  const Operands x = operands(6, 7);
  Tensor out;
  TopWeights top;
  const auto message = [&](const Observer& observer, const Normaliser& normalise) {
    return error_message(
        [&] { attention(x.q, x.k, x.v, {.normaliser = normalise, .observers = {observer}}); });
  };
  EXPECT_EQ(message(observe_weights(out, {.heads = {4}}), softmax_weights()),
            "[attention] heads of observe_weights has 4: this call has 4, numbered from 0");
  EXPECT_EQ(message(observe_scores(out, {.rows = {2, -1}}), softmax_weights()),
            "[attention] rows of observe_scores has -1: this call has 6, numbered from 0");
  EXPECT_EQ(message(observe_weights(out, {.heads = {1, 1}}), softmax_weights()),
            "[attention] heads of observe_weights has 1 twice: list each once");
  EXPECT_EQ(message(observe_scores(out, {}, 1), softmax_weights()),
            "[attention] observe_scores after 1 modifiers: this call has 0");
  EXPECT_EQ(message(observe_log_sum_exp(out), sigmoid_weights()),
            "[attention] observe_log_sum_exp: this call's normaliser has none, only softmax does");
  EXPECT_EQ(error_message([&] { observe_top_weights(top, 0); }),
            "[observe_top_weights] k is 0: it must be 1 or more");
}

}  // namespace
}  // namespace heed::observers_test
