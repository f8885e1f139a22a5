// How a call treats memory, precision and the tape; packed sequences.
#include "heed/attention/call.h"

#include <gtest/gtest.h>

#include "heed/attention/attention.h"
#include "heed/attention/masks.h"
#include "heed/attention/stages.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::call_test {
namespace {

using test::same_bits;

Tensor drawn(const Shape& shape, std::uint64_t seed, DType dtype = DType::f32) {
  Generator generator(seed);
  return cast_data(normal(shape, 0.0, 1.0, generator), dtype);
}

TEST(AttentionCall, ReadsHeadsBetweenRowsInPlaceAndAnswersInThatLayout) {
  Tensor q = drawn({2, 9, 3, 8}, 1), k = drawn({2, 11, 3, 8}, 2), v = drawn({2, 11, 3, 5}, 3);
  for (Tensor* const x : {&q, &k, &v}) x->requires_grad();
  const auto heads = [](const Tensor& x) { return transpose(x, 1, 2); };
  const Tensor y = attention(heads(q), heads(k), heads(v));
  EXPECT_TRUE(view::transpose(y, 1, 2).contiguous());
  const auto copy = [](const Tensor& x) { return contiguous_copy(view::transpose(x, 1, 2)); };
  EXPECT_TRUE(same_bits(y, attention(copy(q), copy(k), copy(v))));
  EXPECT_TRUE(attention(copy(q), copy(k), copy(v)).contiguous());
}

TEST(AttentionCall, AnyStridesWillDo) {
  const Tensor q = drawn({2, 8, 3, 9}, 1), v = drawn({1, 11, 1, 5}, 3);
  const Tensor k = drawn({2, 3, 11, 16}, 2);
  const Tensor q_view =
      view::transpose(view::transpose(q, 1, 3), 1, 2);  // [2, 3, 9, 8], rows apart
  const Tensor k_view = view::slice(k, 3, 0, 16, 2);
  const Tensor v_view = view::expand(view::transpose(v, 1, 2), {2, 3, 11, 5});
  EXPECT_TRUE(same_bits(
      attention(q_view, k_view, v_view),
      attention(contiguous_copy(q_view), contiguous_copy(k_view), contiguous_copy(v_view))));
  test::check_op(
      {.name = "attention",  // also with strided inputs
       .shapes = {{2, 2, 5, 4}, {2, 1, 6, 4}, {2, 1, 6, 3}},
       .op = [](auto in) { return attention(in[0], in[1], in[2], {.mask = causal()}); }});
}

// A decoder's steps attend to the same keys and values: their gradients are added in place, and
// are what the sum of separate calls has, in every layout and beside other uses.
TEST(AttentionCall, GradientsOfSharedKeysAddUp) {
  for (const std::int64_t heads : {1, 2, 4}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      const auto leaf = [&](const Shape& shape, std::uint64_t seed) {
        return drawn(shape, seed, dtype).requires_grad();
      };
      const auto gradients = [&](bool shared, bool between, bool also_summed) {
        Tensor k = leaf({3, 2, 11, 8}, 2), v = leaf({3, 2, 11, 5}, 3);
        if (between) k = leaf({3, 11, 2, 8}, 2), v = leaf({3, 11, 2, 5}, 3);
        const auto seen = [&](const Tensor& x) { return between ? transpose(x, 1, 2) : x * 1.0; };
        const Tensor keys = seen(k), values = seen(v);
        Tensor total = also_summed ? sum(keys) * 3.0 + sum(values) : sum(k) * 0.0;
        for (std::uint64_t step = 0; step < 3; ++step) {
          const Tensor q = drawn({3, 2 * heads, 1, 8}, 10 + step, dtype);
          const Tensor y = attention(q, shared ? keys : seen(k), shared ? values : seen(v));
          total = total + sum(y * drawn(y.shape(), 20 + step, dtype));
        }
        total.backward();
        return std::pair(k.grad(), v.grad());
      };
      for (const bool between : {false, true}) {
        for (const bool summed : {false, true}) {
          const auto [dk, dv] = gradients(true, between, summed);
          const auto [dk_plain, dv_plain] = gradients(false, between, summed);
          EXPECT_LE(test::max_relative_error(dk, dk_plain), dtype == DType::f32 ? 1e-5 : 1e-13);
          EXPECT_LE(test::max_relative_error(dv, dv_plain), dtype == DType::f32 ? 1e-5 : 1e-13);
        }
      }
    }
  }
}

TEST(AttentionCall, OneTensorMayBeQueriesKeysAndValues) {
  test::check_op(
      {.name = "attention of x to itself, twice", .shapes = {{2, 2, 5, 4}}, .op = [](auto in) {
         return attention(in[0], in[0], in[0]) * attention(in[0], in[0], in[0]);
       }});
}

TEST(AttentionCall, Bf16IsComputedInF32) {
  const Tensor q = drawn({1, 2, 5, 8}, 1, DType::bf16), k = drawn({1, 2, 6, 8}, 2, DType::bf16);
  const Tensor v = drawn({1, 2, 6, 4}, 3, DType::bf16);
  const auto wide = [](const Tensor& x) { return cast_data(x, DType::f32); };
  const auto [y, lse] = attention_with_log_sum_exp(q, k, v);
  const auto [expected, expected_lse] = attention_with_log_sum_exp(wide(q), wide(k), wide(v));
  EXPECT_TRUE(same_bits(y, cast_data(expected, DType::bf16)));
  EXPECT_TRUE(same_bits(lse, expected_lse));
}

TEST(AttentionCall, RecordsOnlyWhereSomebodyWantsAGradient) {
  Tensor q = drawn({1, 1, 4, 3}, 1), k = drawn({1, 1, 5, 3}, 2), v = drawn({1, 1, 5, 2}, 3);
  EXPECT_FALSE(attention(q, k, v).tracks_grad());
  Tensor bias = drawn({4, 5}, 4).requires_grad();
  const Tensor y = attention(q, k, v, {.modifiers = {dense_bias(bias)}});
  sum(y * y).backward();
  EXPECT_GT(sum(abs(bias.grad())).item(), 0.0);
  v.requires_grad();
  {
    const NoGrad off;
    EXPECT_FALSE(attention(q, k, v).tracks_grad());
  }
  sum(attention(q, k, v)).backward();
  EXPECT_NEAR(sum(v.grad()).item(), 8.0, 1e-5);  // weights of 4 rows, for 2 features
}

TEST(AttentionCall, AParameterUsedTwiceGathersBothGradients) {
  Tensor q = drawn({1, 2, 4, 3}, 1, DType::f64);
  Tensor bias = drawn({4, 4}, 4, DType::f64).requires_grad();
  const auto gradient = [&](const std::vector<Modifier>& modify) {
    bias.set_grad({});
    const Tensor y = attention(q, q, q, {.modifiers = modify});
    sum(y * y).backward();
    return bias.grad();
  };
  const Tensor twice = gradient({dense_bias(bias), dense_bias(bias)});
  EXPECT_LE(test::max_relative_error(twice, gradient({dense_bias(bias * 2.0)})), 1e-12);
}

// However few the queries, and whichever way they go because of that.
TEST(AttentionCall, BitsDependNotOnTheTapeNorOnTheBatch) {
  for (const std::int64_t Tq : {1, 8, 9}) {
    Tensor q = drawn({3, 4, Tq, 16}, 1), k = drawn({3, 2, 1100, 16}, 2);
    const Tensor v = drawn({3, 2, 1100, 5}, 3);
    const AttentionSpec spec{.mask = causal(Corner::bottom_right)};
    const Tensor off = attention(q, k, v, spec);
    q.requires_grad();
    const Tensor on = attention(q, k, v, spec);
    EXPECT_TRUE(on.tracks_grad());
    EXPECT_TRUE(same_bits(on, off)) << Tq;
    const auto second = [](const Tensor& x) { return view::slice(x.detach(), 0, 1, 2); };
    EXPECT_TRUE(same_bits(attention(second(q), second(k), second(v), spec), second(off))) << Tq;
    const auto wide = [](const Tensor& x) { return cast_data(x.detach(), DType::f64); };
    EXPECT_LE(test::max_relative_error(wide(off), attention(wide(q), wide(k), wide(v), spec)), 2e-6)
        << Tq;
  }
}

// Each sequence of a packed call must come out as it does alone.
void check_packed(const PackedLengths& lengths, const AttentionSpec& spec, DType dtype) {
  const std::int64_t q_total = lengths.q_starts.back(), k_total = lengths.k_starts.back();
  Tensor q = drawn({q_total, 4, 6}, 1, dtype), k = drawn({k_total, 2, 6}, 2, dtype);
  Tensor v = drawn({k_total, 2, 3}, 3, dtype);
  for (Tensor* const x : {&q, &k, &v}) x->requires_grad();
  const auto [y, lse] = attention_packed_with_log_sum_exp(q, k, v, lengths, spec);
  const Tensor dy = drawn(y.shape(), 4, dtype);
  EXPECT_TRUE(same_bits(y, attention_packed(q, k, v, lengths, spec)));
  backward(y, dy);
  for (std::size_t b = 0; b + 1 < lengths.q_starts.size(); ++b) {
    const auto part = [&](const Tensor& x, const std::vector<std::int64_t>& starts) {
      return view::slice(x.detach(), 0, starts[b], starts[b + 1]);
    };
    const auto alone = [&](const Tensor& x, const std::vector<std::int64_t>& starts) {
      Tensor one = contiguous_copy(
          view::unsqueeze(view::transpose(part(x, starts), 0, 1), 0));  // [1, heads, T, features]
      return one.requires_grad();
    };
    const auto back = [](const Tensor& x) { return view::transpose(view::squeeze(x, 0), 0, 1); };
    const Tensor q1 = alone(q, lengths.q_starts), k1 = alone(k, lengths.k_starts);
    const Tensor v1 = alone(v, lengths.k_starts);
    const auto [y1, lse1] = attention_with_log_sum_exp(q1, k1, v1, spec);
    EXPECT_LE(test::max_relative_error(part(y, lengths.q_starts), back(y1)), 2e-6);
    EXPECT_LE(test::max_relative_error(part(lse, lengths.q_starts), back(lse1)), 2e-6);
    const auto [y2, lse2] = attention_packed_with_log_sum_exp(
        part(q, lengths.q_starts), part(k, lengths.k_starts), part(v, lengths.k_starts),
        {{0, q1.size(2)}, {0, k1.size(2)}}, spec);
    EXPECT_TRUE(same_bits(part(y, lengths.q_starts), y2)) << "sequence " << b;
    EXPECT_TRUE(same_bits(part(lse, lengths.q_starts), lse2)) << "sequence " << b;
    backward(y1, alone(dy, lengths.q_starts).detach());
    EXPECT_LE(test::max_relative_error(part(q.grad(), lengths.q_starts), back(q1.grad())), 1e-5);
    EXPECT_LE(test::max_relative_error(part(k.grad(), lengths.k_starts), back(k1.grad())), 1e-5);
    EXPECT_LE(test::max_relative_error(part(v.grad(), lengths.k_starts), back(v1.grad())), 1e-5);
  }
}

TEST(AttentionCall, PackedSequencesAreAsIfAlone) {
  const PackedLengths lengths{{0, 3, 3, 40, 107}, {0, 5, 9, 9, 140}};
  for (const DType dtype : {DType::f32, DType::f64}) {
    check_packed(lengths, {}, dtype);
    check_packed(lengths, {.mask = causal(Corner::bottom_right)}, dtype);
    check_packed(lengths, {.modifiers = {alibi(alibi_slopes(4, dtype))}, .mask = window(9, 0)},
                 dtype);
    check_packed({{0, 0}, {0, 4}}, {}, dtype);
    check_packed({{0, 6, 6, 13}, {0, 8, 10, 19}},  // all of them two keys longer
                 {.modifiers = {shaw_keys(drawn({5, 6}, 9, dtype), Corner::bottom_right)}}, dtype);
  }
}

TEST(AttentionCall, PackedMasksCountSequences) {
  const Tensor q = drawn({7, 1, 2}, 1);
  EXPECT_EQ(error_message([&] {
              attention_packed(q, q, q, {{0, 3, 7}, {0, 3, 7}}, {.mask = key_lengths({7})});
            }),
            "[attention] key_lengths has 1 lengths, the batch 2 sequences: give one for each");
  const Tensor none = zeros({0, 1, 2});
  EXPECT_EQ(attention_packed(none, none, none, {{0}, {0}}).shape(), Shape({0, 1, 2}));
}

}  // namespace
}  // namespace heed::call_test
