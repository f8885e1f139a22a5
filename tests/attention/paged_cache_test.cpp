#include "heed/attention/paged_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/attention/attention.h"
#include "heed/attention/masks.h"
#include "heed/ops/join.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

using testing::HasSubstr;

Tensor random(const Shape& shape, std::uint64_t seed) {
  Generator generator(seed);
  return normal(shape, 0.0, 1.0, generator);
}

// What queries [B, H, 1, D] get from keys and values [B, G, T, D] that are next to each other.
Tensor expected(const Tensor& q, const Tensor& k, const Tensor& v) {
  const Tensor y = attention(q, k, v);  // [B, H, 1, D]
  return reshape(y, {y.size(0), 1, y.size(1) * y.size(3)});
}

TEST(PagedCache, EqualsAttentionToTheSameKeys) {
  PagedCache cache({.rows = 3, .heads = 2, .features = 8});
  EXPECT_EQ(cache.longest(), 0);
  Tensor k, v;
  std::uint64_t seed = 1;
  for (const std::int64_t added : {1, 14, 1, 1, 20, 3}) {  // over the ends of pages
    const Tensor more_k = random({3, 2, added, 8}, seed++),
                 more_v = random({3, 2, added, 8}, seed++);
    cache.append(more_k, more_v);
    k = k.defined() ? concat({k, more_k}, 2) : more_k;
    v = v.defined() ? concat({v, more_v}, 2) : more_v;
    const Tensor q = random({3, 4, 1, 8}, seed++);
    EXPECT_LE(test::max_relative_error(cache.attend(q), expected(q, k, v)), 1e-5);
    EXPECT_EQ(cache.longest(), k.size(2));
  }
  EXPECT_GE(cache.bytes(), 3 * 2 * 40 * 16 * 4);
}

TEST(PagedCache, BeamsShareAndThenDiverge) {
  const Tensor k = random({2, 1, 45, 4}, 1), v = random({2, 1, 45, 4}, 2);
  PagedCache cache({.rows = 2, .heads = 1, .features = 4});
  Tensor rows_k = slice(k, 2, 0, 0), rows_v = slice(v, 2, 0, 0);
  const std::vector<std::vector<std::int64_t>> orders = {
      {0, 0, 1}, {2, 1, 0, 0}, {3, 2}, {1, 1, 1}};
  for (std::int64_t t = 0; t < 45; ++t) {
    if (t % 7 == 3) {
      const std::vector<std::int64_t> from =
          cache.rows() == 1 ? std::vector<std::int64_t>{0, 0}
                            : orders[static_cast<std::size_t>(t / 7) % orders.size()];
      std::vector<std::int64_t> possible;
      for (const std::int64_t row : from) possible.push_back(std::min(row, cache.rows() - 1));
      cache.reorder(possible);
      std::vector<Tensor> chosen_k, chosen_v;
      for (const std::int64_t row : possible) {
        chosen_k.push_back(slice(rows_k, 0, row, row + 1));
        chosen_v.push_back(slice(rows_v, 0, row, row + 1));
      }
      rows_k = concat(chosen_k, 0);
      rows_v = concat(chosen_v, 0);
    }
    const Shape one{cache.rows(), 1, 1, 4};
    const Tensor more_k = random(one, 100 + static_cast<std::uint64_t>(t));
    const Tensor more_v = random(one, 200 + static_cast<std::uint64_t>(t));
    cache.append(more_k, more_v);
    rows_k = concat({rows_k, more_k}, 2);
    rows_v = concat({rows_v, more_v}, 2);
    const Tensor q = random({cache.rows(), 2, 1, 4}, 300 + static_cast<std::uint64_t>(t));
    ASSERT_LE(test::max_relative_error(cache.attend(q), expected(q, rows_k, rows_v)), 1e-5)
        << "position " << t;
  }
}

TEST(PagedCache, SequencesHaveTheirOwnLengths) {
  const Tensor k = random({3, 2, 20, 4}, 1), v = random({3, 2, 20, 6}, 2);
  PagedCache cache({.rows = 3, .heads = 2, .features = 4, .value_features = 6});
  cache.append(k, v, from_values<std::int64_t>({20, 0, 7}, {3}));
  EXPECT_EQ(cache.length(0), 20);
  EXPECT_EQ(cache.length(1), 0);
  const Tensor q = random({3, 2, 1, 4}, 3);
  Tensor weights;
  const Tensor y = cache.attend(q, {.weights = &weights, .keys = 25});  // [3, 1, 12]
  EXPECT_EQ(weights.shape(), (Shape{3, 2, 1, 25}));
  const auto row = [](const Tensor& x, std::int64_t i) { return slice(x, 0, i, i + 1); };
  EXPECT_LE(test::max_relative_error(row(y, 0), expected(row(q, 0), row(k, 0), row(v, 0))), 1e-5);
  EXPECT_LE(test::max_relative_error(row(y, 2), expected(row(q, 2), slice(row(k, 2), 2, 0, 7),
                                                         slice(row(v, 2), 2, 0, 7))),
            1e-5);
  for (const float value : row(y, 1).to_vector<float>()) EXPECT_EQ(value, 0.0f);
  const std::vector<float> of_third = row(weights, 2).to_vector<float>();
  EXPECT_EQ(of_third[7], 0.0f);
  EXPECT_GT(of_third[6], 0.0f);
}

TEST(PagedCache, SeveralQueriesAreCausal) {
  PagedCache cache({.rows = 2, .heads = 2, .features = 8});
  const Tensor k = random({2, 2, 60, 8}, 1), v = random({2, 2, 60, 8}, 2);
  const Tensor q = random({2, 4, 60, 8}, 3);
  const Tensor whole = attention(q, k, v, {.mask = causal()});  // [2, 4, 60, 8]
  for (std::int64_t t = 0; t < 60;) {
    const std::int64_t end = std::min<std::int64_t>(60, t + 1 + t % 17);
    cache.append(slice(k, 2, t, end), slice(v, 2, t, end));
    const Tensor y = cache.attend(slice(q, 2, t, end), {.causal = true});  // [2, T, 32]
    const Tensor rows = transpose(slice(whole, 2, t, end), 1, 2);
    ASSERT_LE(test::max_relative_error(y, reshape(contiguous(rows), {2, end - t, 32})), 1e-5) << t;
    t = end;
  }
}

TEST(PagedCache, FewerBitsComeClose) {
  const Tensor k = random({1, 2, 100, 16}, 1), v = random({1, 2, 100, 16}, 2);
  const Tensor q = random({1, 6, 1, 16}, 3);
  const auto answer = [&](CacheForm form) {
    PagedCache cache({.rows = 1, .heads = 2, .features = 16, .form = form});
    cache.append(k, v);
    return std::pair(cache.attend(q), cache.bytes());
  };
  const auto [exact, bytes] = answer(CacheForm::f32);
  const auto [half, half_bytes] = answer(CacheForm::bf16);
  const auto [quarter, quarter_bytes] = answer(CacheForm::int8);
  EXPECT_LE(test::max_relative_error(exact, expected(q, k, v)), 1e-5);
  EXPECT_LE(test::max_relative_error(half, exact), 1e-2);
  EXPECT_LE(test::max_relative_error(quarter, exact), 2e-2);
  EXPECT_GT(test::max_relative_error(half, exact), 1e-5);
  EXPECT_GT(test::max_relative_error(quarter, exact), 1e-5);
  EXPECT_EQ(half_bytes, bytes / 2);
  EXPECT_LT(quarter_bytes, bytes / 3);
}

TEST(PagedCache, AWindowKeepsItsPagesOnly) {
  PagedCache cache({.rows = 1, .heads = 1, .features = 4, .window = 20});
  const Tensor k = random({1, 1, 500, 4}, 1), v = random({1, 1, 500, 4}, 2);
  const Tensor q = random({1, 2, 500, 4}, 3);
  const Tensor whole = attention(q, k, v, {.mask = window(19, 0)});  // [1, 2, 500, 4]
  std::int64_t bytes = 0;
  for (std::int64_t t = 0; t < 500; ++t) {
    cache.append(slice(k, 2, t, t + 1), slice(v, 2, t, t + 1));
    const Tensor y = cache.attend(slice(q, 2, t, t + 1), {.causal = true});
    const Tensor row = reshape(contiguous(slice(whole, 2, t, t + 1)), {1, 1, 8});
    ASSERT_LE(test::max_relative_error(y, row), 1e-5) << t;
    if (t == 60) {
      bytes = cache.bytes();
      cache.reorder(std::vector<std::int64_t>{0});
    }
  }
  EXPECT_EQ(cache.bytes(), bytes) << "pages are used again";
  EXPECT_EQ(cache.first_kept(), (500 - 20) / 16 * 16);
}

// Sequences that begin with the same prompt hold its pages once.
TEST(PagedCache, APrefixIsShared) {
  PagedCache cache({.rows = 1, .heads = 1, .features = 4});
  const Tensor prompt = random({1, 1, 1600, 4}, 1);
  cache.append(prompt, prompt);
  const std::int64_t bytes = cache.bytes();
  cache.reorder(std::vector<std::int64_t>(50, 0));
  const Tensor more = random({50, 1, 1, 4}, 2);
  cache.append(more, more);
  EXPECT_LE(cache.bytes(), 2 * bytes);
  const Tensor q = random({50, 1, 1, 4}, 3);
  const Tensor all = concat({expand(prompt, {50, 1, 1600, 4}), more}, 2);
  EXPECT_LE(test::max_relative_error(cache.attend(q), expected(q, all, all)), 1e-5);
}

TEST(PagedCache, AShortSequenceTakesLittleMemory) {
  PagedCache cache({.rows = 1, .heads = 1, .features = 16});
  EXPECT_EQ(cache.bytes(), 0);
  const Tensor x = random({1, 1, 5, 16}, 1);
  cache.append(x, x);
  EXPECT_EQ(cache.bytes(), 4 * 2 * 16 * 16 * 4) << "four pages";
}

TEST(PagedCache, UnusedPagesAreUsedAgain) {
  PagedCache cache({.rows = 1, .heads = 1, .features = 4});
  const Tensor x = random({1, 1, 40, 4}, 1);
  cache.append(x, x);
  const std::int64_t bytes = cache.bytes();
  for (int i = 0; i < 200; ++i) {  // the sequence is dropped and begun again
    cache.reorder(std::vector<std::int64_t>{});
    EXPECT_EQ(cache.rows(), 0);
    cache = PagedCache({.rows = 1, .heads = 1, .features = 4});
    cache.append(x, x);
    cache.reorder(std::vector<std::int64_t>{0, 0});
    cache.reorder(std::vector<std::int64_t>{1});
    cache.append(slice(x, 2, 0, 1), slice(x, 2, 0, 1));
  }
  EXPECT_EQ(cache.bytes(), bytes);
}

TEST(PagedCache, OthersJoinWithTheirPages) {
  const Tensor k = random({1, 2, 40, 8}, 1), v = random({1, 2, 40, 8}, 2),
               q = random({1, 2, 1, 8}, 3);
  const auto filled = [&](std::int64_t positions) {
    PagedCache cache({.rows = 1, .heads = 2, .features = 8});
    cache.append(slice(k, 2, 0, positions), slice(v, 2, 0, positions));
    return cache;
  };
  PagedCache cache = filled(19), others = filled(37);
  others.reorder(std::vector<std::int64_t>{0, 0});
  cache.join(others);
  ASSERT_EQ(cache.rows(), 3);
  EXPECT_EQ(cache.length(0), 19);
  EXPECT_EQ(cache.length(2), 37);
  const auto thrice = [](const Tensor& x) { return concat({x, x, x}, 0); };
  const auto last = [&](const Tensor& x) { return thrice(slice(x, 2, 39, 40)); };
  others = filled(1);  // what joined does not change with the others
  cache.append(last(k), last(v));
  const Tensor y = cache.attend(thrice(q));
  for (const auto& [row, before] : {std::pair{0, 19}, {1, 37}, {2, 37}}) {
    PagedCache alone = filled(before);
    alone.append(slice(k, 2, 39, 40), slice(v, 2, 39, 40));
    EXPECT_TRUE(test::same_bits(clone_data(slice(y, 0, row, row + 1)), alone.attend(q)));
  }
  PagedCache other({.rows = 1, .heads = 1, .features = 8});
  EXPECT_THAT(error_message([&] { cache.join(other); }), HasSubstr("caches of one layer"));
}

TEST(PagedCache, WrongUseIsNamed) {
  EXPECT_THAT(error_message([] { PagedCache({.rows = 1, .heads = 0, .features = 4}); }),
              HasSubstr("heads 0"));
  PagedCache cache({.rows = 2, .heads = 1, .features = 4});
  const Tensor other = zeros({2, 1, 1, 5});
  EXPECT_THAT(error_message([&] { cache.append(other, other); }),
              HasSubstr("k [2, 1, 1, 5] and v [2, 1, 1, 5]: this cache takes [2, 1, T, 4]"));
  EXPECT_THAT(error_message([&] {
                cache.attend(zeros({2, 2, 2, 5}));
              }),
              HasSubstr("it must be [2, H, T, 4]"));
  EXPECT_THAT(error_message([&] {
                cache.reorder(std::vector<std::int64_t>{0, 2});
              }),
              HasSubstr("number 2: there are 2"));
  EXPECT_THAT(error_message([&] {
                cache.attend(zeros({2, 1, 1, 4}), {.causal = true});
              }),
              HasSubstr("1 queries of a sequence of 0 positions: append their keys first"));
  EXPECT_THAT(error_message([&] {
                cache.attend(zeros({2, 1, 1, 4}), {.bias = zeros({1, 9})});
              }),
              HasSubstr("windows and biases are for causal queries"));
}

}  // namespace
}  // namespace heed
