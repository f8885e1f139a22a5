// Wrong operands: each message names the argument, the sizes and the remedy.
#include "heed/attention/operands.h"

#include <gtest/gtest.h>

#include "heed/attention/attention.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

Tensor made(const Shape& shape, DType dtype = DType::f32) { return zeros(shape, dtype); }

std::string message(const Tensor& q, const Tensor& k, const Tensor& v) {
  return error_message([&] { attention(q, k, v); });
}

std::string packed_message(std::vector<std::int64_t> q_starts, std::vector<std::int64_t> k_starts) {
  const Tensor q = made({7, 4, 5}), k = made({9, 2, 5}), v = made({9, 2, 6});
  return error_message([&] { attention_packed(q, k, v, {q_starts, k_starts}); });
}

TEST(Operands, SizesAreRead) {
  const auto shape = check_operands(made({2, 6, 7, 5}), made({2, 3, 9, 5}), made({2, 3, 9, 8}));
  EXPECT_EQ(shape.B, 2);
  EXPECT_EQ(shape.H, 6);
  EXPECT_EQ(shape.G, 3);
  EXPECT_EQ(shape.Tq, 7);
  EXPECT_EQ(shape.Tk, 9);
  EXPECT_EQ(shape.D, 5);
  EXPECT_EQ(shape.Dv, 8);
  const PackedLengths lengths{{0, 3, 3, 7}, {0, 1, 4, 9}};
  const auto packed =
      check_packed_operands(made({7, 4, 5}), made({9, 2, 5}), made({9, 2, 6}), lengths);
  EXPECT_EQ(packed.B, 3);
  EXPECT_EQ(packed.Tq, 4);
  EXPECT_EQ(packed.Tk, 5);
  EXPECT_EQ(packed.queries(1), 0);
  EXPECT_EQ(packed.keys(2), 5);
}

TEST(Operands, Dtypes) {
  const Shape s{1, 1, 2, 3};
  EXPECT_EQ(message(Tensor(), made(s), made(s)), "[attention] q is an undefined tensor");
  EXPECT_EQ(message(made(s), made(s), Tensor()), "[attention] v is an undefined tensor");
  EXPECT_EQ(message(made(s, DType::i64), made(s), made(s)),
            "[attention] q is i64: attention computes in f32, f64 or bf16; use cast(x, "
            "DType::f32)");
  EXPECT_EQ(message(made(s), made(s), made(s, DType::f64)),
            "[attention] q is f32, k f32, v f64: all three must have one dtype");
}

TEST(Operands, Shapes) {
  EXPECT_EQ(message(made({2, 7, 5}), made({2, 3, 9, 5}), made({2, 3, 9, 5})),
            "[attention] q [2, 7, 5]: it must be [B, H, Tq, D]");
  EXPECT_EQ(message(made({2, 3, 7, 5}), made({9, 5}), made({2, 3, 9, 5})),
            "[attention] k [9, 5]: it must be [B, G, Tk, D]");
  EXPECT_EQ(message(made({2, 3, 7, 5}), made({2, 3, 9, 5}), made({1, 2, 3, 9, 5})),
            "[attention] v [1, 2, 3, 9, 5]: it must be [B, G, Tk, Dv]");
  EXPECT_EQ(message(made({2, 3, 7, 5}), made({1, 3, 9, 5}), made({1, 3, 9, 5})),
            "[attention] q [2, 3, 7, 5], k [1, 3, 9, 5], v [1, 3, 9, 5]: B must agree");
  EXPECT_EQ(message(made({2, 3, 7, 5}), made({2, 3, 9, 5}), made({2, 3, 8, 5})),
            "[attention] k [2, 3, 9, 5] has 9 keys, v [2, 3, 8, 5] has 8 values: Tk must agree");
  EXPECT_EQ(message(made({2, 8, 7, 5}), made({2, 3, 9, 5}), made({2, 3, 9, 5})),
            "[attention] k [2, 3, 9, 5] has 3 heads, q [2, 8, 7, 5] has 8: H must be a multiple of "
            "G");
  EXPECT_EQ(message(made({2, 8, 7, 5}), made({2, 0, 9, 5}), made({2, 0, 9, 5})),
            "[attention] k [2, 0, 9, 5] has 0 heads, q [2, 8, 7, 5] has 8: H must be a multiple of "
            "G");
  EXPECT_EQ(message(made({2, 8, 7, 5}), made({2, 2, 9, 5}), made({2, 4, 9, 5})),
            "[attention] k [2, 2, 9, 5] has 2 heads, v [2, 4, 9, 5] has 4: G must agree");
  EXPECT_EQ(message(made({2, 8, 7, 5}), made({2, 2, 9, 6}), made({2, 2, 9, 5})),
            "[attention] q [2, 8, 7, 5] has D = 5, k [2, 2, 9, 6] has 6: they must agree, or use "
            "general_score");
  EXPECT_EQ(message(made({2, 8, 7, 0}), made({2, 2, 9, 0}), made({2, 2, 9, 5})),
            "[attention] q [2, 8, 7, 0]: its last axis must not be empty");
  EXPECT_EQ(message(made({2, 8, 7, 5}), made({2, 2, 9, 5}), made({2, 2, 9, 0})),
            "[attention] v [2, 2, 9, 0]: its last axis must not be empty");
}

TEST(Operands, PackedShapes) {
  const PackedLengths lengths{{0, 7}, {0, 9}};
  EXPECT_EQ(error_message([&] {
              attention_packed(made({1, 7, 4, 5}), made({9, 2, 5}), made({9, 2, 6}), lengths);
            }),
            "[attention] q [1, 7, 4, 5]: it must be [total, H, D]");
  EXPECT_EQ(error_message([&] {
              attention_packed(made({7, 4, 5}), made({9, 2, 5}), made({8, 2, 6}), lengths);
            }),
            "[attention] k [9, 2, 5] has 9 keys, v [8, 2, 6] has 8 values: they must agree");
}

TEST(Operands, CumulativeLengths) {
  EXPECT_EQ(packed_message({0, 3, 7}, {0, 4, 9}), "(no error)");
  EXPECT_EQ(packed_message({}, {0, 9}),
            "[attention] q_starts begins with nothing: the first sequence starts at row 0");
  EXPECT_EQ(packed_message({1, 7}, {0, 9}),
            "[attention] q_starts begins with 1: the first sequence starts at row 0");
  EXPECT_EQ(packed_message({0, 3, 7}, {0, 6, 4, 9}),
            "[attention] k_starts falls from 6 to 4 at index 2: the starts must not decrease");
  EXPECT_EQ(packed_message({0, 3, 6}, {0, 4, 9}),
            "[attention] q_starts ends with 6, the tensor has 7 rows: they must agree");
  EXPECT_EQ(packed_message({0, 3, 7}, {0, 4, 5, 9}),
            "[attention] q_starts is for 2 sequences, k_starts for 3: they must agree");
}

}  // namespace
}  // namespace heed
