// Rows of a table by number: values, gradients, messages, and what PyTorch computed.
#include "heed/ops/embedding.h"

#include <gtest/gtest.h>

#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/golden.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

using test::check_golden;
using test::check_op;
using test::Golden;
using test::Named;

TEST(Embedding, OddSizesAndEmpty) {
  const Tensor lists[] = {
      from_values<std::int64_t>({3}, {}), from_values<std::int64_t>({0, 3, 3, 1, 0, 2}, {2, 3}),
      from_values<std::int32_t>({3, 3, 3, 3, 1}, {5}), empty({0, 3}, DType::i64)};
  for (const Tensor& ids : lists) {
    for (const std::int64_t e : {0, 1, 7, 65}) {
      check_op({.name = "embedding", .shapes = {{4, e}}, .op = [=](auto in) {
                  return embedding(in[0], ids);
                }});
    }
  }
}

TEST(Embedding, ManyIdsMeetWithTheSameBits) {
  Tensor ids = empty({4000}, DType::i64);
  for (std::int64_t i = 0; i < 4000; ++i) ids.mutable_data<std::int64_t>()[i] = i * i % 37;
  check_op({.name = "embedding",
            .shapes = {{37, 193}},
            .op = [ids](auto in) { return embedding(in[0], ids); },
            .gradient_tolerance = 1e-4});
}

TEST(Embedding, GradientsAddUpWhenATableIsUsedTwice) {
  const Tensor ids = from_values<std::int64_t>({1, 0, 1}, {3});
  check_op({.name = "shared", .shapes = {{3, 5}}, .op = [ids](auto in) {
              return embedding(in[0], ids) * embedding(in[0] * 2.0, ids) + in[0];
            }});
}

TEST(Embedding, ThePaddingRowIsReadButGetsNoGradient) {
  Tensor weight = ones({3, 2}).requires_grad();
  const Tensor ids = from_values<std::int64_t>({1, 0, 1, 2}, {4});
  const Tensor y = embedding(weight, ids, {.padding_index = 1});
  EXPECT_EQ(y.to_vector<float>(), std::vector<float>(8, 1.0f));
  sum(y).backward();
  EXPECT_EQ(weight.grad().to_vector<float>(), (std::vector<float>{1, 1, 0, 0, 1, 1}));
}

TEST(Embedding, ReadsTablesStoredAsBf16) {
  const Tensor weight = from_values({BFloat16(1.5f), BFloat16(-2.0f)}, {2, 1});
  const Tensor y = embedding(weight, from_values<std::int32_t>({1, 0}, {2}));
  EXPECT_EQ(y.to_vector<BFloat16>(), (std::vector{BFloat16(-2.0f), BFloat16(1.5f)}));
}

TEST(Embedding, WrongUseSaysWhatIsWrong) {
  const Tensor weight = ones({17, 4});
  EXPECT_EQ(error_message([&] {
              embedding(weight, from_values<std::int64_t>({0, 1, 2, 17}, {2, 2}));
            }),
            "[embedding] index 17 at position [1, 1] is outside the vocabulary of size 17: indices "
            "run from 0 to 16");
  EXPECT_THROW(embedding(weight, from_values<std::int64_t>({-1}, {1})), Error);
  EXPECT_THROW(embedding(weight, ones({2})), Error);
  EXPECT_THROW(embedding(ones({4}), from_values<std::int64_t>({0}, {1})), Error);
  const Tensor ids = from_values<std::int64_t>({0}, {1});
  EXPECT_EQ(error_message([&] { embedding(weight, ids, {.padding_index = 17}); }),
            "[embedding] padding_index 17 is outside the vocabulary of size 17");
}

TEST(Embedding, AsInPyTorch) {
  check_golden("embedding", [](const Golden& g) -> Named {
    return {{"y", embedding(g["weight"], g["ids"])}};
  });
  check_golden("embedding_padding_idx", [](const Golden& g) -> Named {
    const auto padding = static_cast<std::int64_t>(g.number("padding_idx"));
    return {{"y", embedding(g["weight"], g["ids"], {.padding_index = padding})}};
  });
}

}  // namespace
}  // namespace heed
