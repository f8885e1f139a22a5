// Decoding with a cache, step by step, against one pass over the whole sequence in double.
#include "heed/attention/decode.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "heed/attention/attention.h"
#include "heed/attention/masks.h"
#include "heed/attention/stages.h"
#include "heed/kernels/reference/attention.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::decode_test {
namespace {

constexpr std::int64_t B = 2, H = 4, G = 2, D = 20, Dv = 12;

struct Sequence {
  Tensor q, k, v;
};

Sequence sequence(std::int64_t length) {
  Generator generator(7);
  return {normal({B, H, length, D}, 0, 1, generator), normal({B, G, length, D}, 0, 1, generator),
          normal({B, G, length, Dv}, 0, 1, generator)};
}

/// A spec for whole sequences (top_left) or for steps (bottom_right), in the dtype of the call.
using SpecFor = std::function<AttentionSpec(Corner, DType)>;

struct Steps {
  std::vector<std::int64_t> sizes;
  DType dtype = DType::f32;
  std::optional<std::int64_t> window = {};
};

Tensor positions(const Tensor& x, std::int64_t first, std::int64_t count) {
  return view::slice(x, 2, first, first + count);
}

// Rounded as the cache rounds, in double.
Tensor as_kept(const Tensor& x, DType dtype) { return cast_data(cast_data(x, dtype), DType::f64); }

void check_steps(const Steps& steps, const SpecFor& spec, double tolerance = 3e-6) {
  const std::int64_t length = std::accumulate(steps.sizes.begin(), steps.sizes.end(), 0L);
  const Sequence s = sequence(length);
  const kernels::reference::PlainAttention on_the_twin;
  const Tensor whole = attention(cast_data(s.q, DType::f64), as_kept(s.k, steps.dtype),
                                 as_kept(s.v, steps.dtype), spec(Corner::top_left, DType::f64));
  KvCache cache({.batch = B,
                 .heads = G,
                 .features = D,
                 .value_features = Dv,
                 .dtype = steps.dtype,
                 .window = steps.window});
  std::int64_t at = 0;
  for (const std::int64_t n : steps.sizes) {
    cache.append(positions(s.k, at, n), positions(s.v, at, n));
    const Tensor output =
        attention_decode(positions(s.q, at, n), cache, spec(Corner::bottom_right, DType::f32));
    EXPECT_LE(test::max_relative_error(cast_data(output, DType::f64), positions(whole, at, n)),
              tolerance)
        << "step of " << n << " at " << at << ", " << name_of(steps.dtype);
    at += n;
  }
}

AttentionSpec causal_only(Corner corner, DType /*dtype*/) { return {.mask = causal(corner)}; }

TEST(AttentionDecodeOp, StepsGiveWhatTheWholeGives) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    check_steps({.sizes = {1, 1, 5, 1, 2, 1, 1}, .dtype = dtype}, causal_only);
    check_steps({.sizes = {300, 1, 3}, .dtype = dtype}, causal_only);
    check_steps({.sizes = {30, 12, 40, 1}, .dtype = dtype}, causal_only);  // by tiles
  }
}

TEST(AttentionDecodeOp, AWindowOfTheCacheIsEnoughForAWindowOfTheMask) {
  const SpecFor banded = [](Corner corner, DType) {
    return AttentionSpec{.mask = window(9, 0, corner)};
  };
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const std::vector<std::int64_t> sizes(50, 1);
    check_steps({.sizes = sizes, .dtype = dtype, .window = 10}, banded);
    check_steps({.sizes = {3, 3, 3, 3, 3, 3, 3, 3, 3}, .dtype = dtype, .window = 12}, banded);
  }
}

TEST(AttentionDecodeOp, StagesThatKnowDistances) {
  const Tensor table = sequence(9).k, values = sequence(9).v;
  const SpecFor all = [&](Corner corner, DType dtype) {
    const Tensor k = cast_data(view::select(view::select(table, 0, 0), 0, 0), dtype);
    const Tensor v = cast_data(view::select(view::select(values, 0, 0), 0, 0), dtype);
    return AttentionSpec{
        .modifiers = {alibi(alibi_slopes(H, dtype), corner), shaw_keys(k, corner), soft_cap(4.0)},
        .mask = causal(corner),
        .reweights = {shaw_values(v, corner)}};
  };
  for (const DType dtype : {DType::f32, DType::bf16}) {
    check_steps({.sizes = {1, 1, 5, 1, 2}, .dtype = dtype}, all);
    check_steps({.sizes = {30, 12, 1}, .dtype = dtype}, all);
  }
}

TEST(AttentionDecodeOp, ScoresAndNormalisers) {
  Generator generator(3);
  const Tensor weight = normal({D, D}, 0, 0.2, generator), sinks = normal({H}, 0, 1, generator);
  const std::vector<SpecFor> specs = {
      [](Corner corner, DType) {
        return AttentionSpec{.score = cosine_score(5.0), .mask = causal(corner)};
      },
      [&](Corner corner, DType dtype) {
        return AttentionSpec{.score = general_score(cast_data(weight, dtype)),
                             .mask = causal(corner)};
      },
      [&](Corner corner, DType dtype) {
        return AttentionSpec{.mask = causal(corner),
                             .normaliser = softmax_with_sink(cast_data(sinks, dtype))};
      },
      [](Corner corner, DType) {
        return AttentionSpec{.mask = causal(corner), .normaliser = sigmoid_weights()};
      }};
  for (const DType dtype : {DType::f32, DType::bf16}) {
    for (const SpecFor& spec : specs) {
      check_steps({.sizes = {1, 4, 1, 20, 1}, .dtype = dtype}, spec, 1e-5);
    }
  }
}

TEST(AttentionDecodeOp, ReadsQueriesOfAnyLayoutAndRecordsNothing) {
  const Sequence s = sequence(5);
  KvCache cache({.batch = B, .heads = G, .features = D, .value_features = Dv});
  cache.append(s.k, s.v);
  const Tensor expected = attention_decode(s.q, cache);
  Tensor strided = view::transpose(clone_data(view::transpose(s.q, 2, 3)), 2, 3);
  strided.requires_grad();
  const Tensor output = attention_decode(strided, cache);
  EXPECT_TRUE(test::same_bits(output, expected));
  EXPECT_FALSE(output.tracks_grad());
}

TEST(AttentionDecodeOp, AnEmptyCacheGivesZeros) {
  const KvCache cache({.batch = B, .heads = G, .features = D, .value_features = Dv});
  const Tensor output = attention_decode(sequence(1).q, cache);
  EXPECT_TRUE(test::same_bits(output, zeros({B, H, 1, Dv})));
}

TEST(AttentionDecodeOp, SaysWhatIsWrong) {
  const KvCache cache({.batch = B, .heads = G, .features = D, .value_features = Dv});
  const auto decode = [&](const Tensor& q, const AttentionSpec& spec = {}) {
    return error_message([&] { attention_decode(q, cache, spec); });
  };
  EXPECT_EQ(
      decode(Tensor()),
      "[attention_decode] q is undefined: queries must be f32 or f64, whatever the cache holds");
  EXPECT_EQ(decode(zeros({B, H, 1, D}, DType::bf16)),
            "[attention_decode] q is bf16: queries must be f32 or f64, whatever the cache holds");
  EXPECT_EQ(decode(zeros({H, 1, D})), "[attention_decode] q [4, 1, 20]: it must be [B, H, Tq, D]");
  EXPECT_EQ(decode(zeros({3, H, 1, D})),
            "[attention_decode] q [3, 4, 1, 20] has 3 sequences, the cache 2: B must agree");
  EXPECT_EQ(decode(zeros({B, 3, 1, D})),
            "[attention_decode] q [2, 3, 1, 20] has 3 heads, the cache 2: H must be a multiple of "
            "G");
  EXPECT_EQ(decode(zeros({B, H, 1, D}), {.normaliser = softmax_with_sink(zeros({3}))}),
            "[attention] sinks of softmax_with_sink [3]: there must be one for each of 4 heads");
  EXPECT_NE(decode(zeros({B, H, 1, D + 1})).find("they must agree"), std::string::npos);
}

}  // namespace
}  // namespace heed::decode_test
