#include "heed/attention/positions/code_table.h"

#include <gtest/gtest.h>

#include "tests/support/error_message.h"

namespace heed {
namespace {

double digits(std::int64_t position, std::int64_t feature) {
  return static_cast<double>(10 * position + feature);
}

TEST(CodeTable, RowsAreTheSameKeptOrMade) {
  const CodeTable table(-1, 2, 2, digits);
  EXPECT_EQ(table.rows(-1, 3, DType::f32).to_vector<float>(),
            (std::vector<float>{-10, -9, 0, 1, 10, 11}));
  EXPECT_EQ(table.rows(1, 2, DType::f32).to_vector<float>(), (std::vector<float>{10, 11, 20, 21}));
  EXPECT_EQ(table.rows(-2, 1, DType::f32).to_vector<float>(), (std::vector<float>{-20, -19}));
  EXPECT_EQ(table.rows(0, 1, DType::f64).to_vector<double>(), (std::vector<double>{0, 1}));
}

TEST(CodeTable, NoRows) {
  const CodeTable table(0, 2, 3, digits);
  EXPECT_EQ(table.rows(1, 0, DType::f32).shape(), (Shape{0, 3}));
  EXPECT_EQ(table.rows(9, 0, DType::f64).shape(), (Shape{0, 3}));
}

TEST(CodeTable, WhatIsKeptIsNotMadeAgain) {
  int made = 0;
  const CodeTable table(0, 4, 1, [&made](std::int64_t, std::int64_t) { return ++made; });
  EXPECT_EQ(made, 4);
  table.rows(1, 3, DType::f32);
  EXPECT_EQ(made, 4);
  table.rows(3, 2, DType::f32);
  EXPECT_EQ(made, 6);
}

TEST(CodeTable, OtherTypesAreRefused) {
  const CodeTable table(0, 1, 1, digits);
  EXPECT_EQ(error_message([&] { table.rows(0, 1, DType::i64); }),
            "[position] dtype i64: this op computes in f32 or f64; use cast(x, DType::f32)");
}

}  // namespace
}  // namespace heed
