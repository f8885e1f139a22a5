#include "heed/attention/positions/added.h"

#include <gtest/gtest.h>

#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

using test::same_bits;

// Tests of all codes that are added to embeddings; each also has its own test.
class AddedCodes : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Position> make() const {
    Generator generator(3);
    return make_position({.name = GetParam(), .max_length = 12}, {.embed = 6}, generator);
  }
};

TEST_P(AddedCodes, LaterPositionsAreTheTailOfALongerText) {
  const auto code = make();
  const Tensor x = randn({2, 12, 6});
  const Tensor whole = code->embed(x);
  for (const std::int64_t first : {1, 5, 11}) {
    const Tensor tail = clone_data(view::slice(x, 1, first, 12));
    EXPECT_TRUE(same_bits(code->embed(tail, first), clone_data(view::slice(whole, 1, first, 12))));
  }
}

TEST_P(AddedCodes, TheSameForEverySequenceAndInBothPrecisions) {
  const auto code = make(), exact = make();
  exact->to(DType::f64);
  const Tensor y = code->embed(zeros({2, 12, 6}));
  EXPECT_TRUE(same_bits(clone_data(view::select(y, 0, 0)), clone_data(view::select(y, 0, 1))));
  const Tensor expected = exact->embed(zeros({2, 12, 6}, DType::f64));
  EXPECT_LE(test::max_relative_error(cast_data(y, DType::f64), expected), 1e-7);
}

TEST_P(AddedCodes, PositionsDiffer) {
  const Tensor y = make()->embed(zeros({1, 12, 6}));
  for (std::int64_t i = 0; i < 12; ++i) {
    for (std::int64_t j = 0; j < i; ++j) {
      EXPECT_FALSE(same_bits(clone_data(view::slice(y, 1, i, i + 1)),
                             clone_data(view::slice(y, 1, j, j + 1))))
          << i << " and " << j;
    }
  }
}

TEST_P(AddedCodes, NothingIsLegal) {
  EXPECT_EQ(make()->embed(zeros({2, 0, 6}), 12).shape(), (Shape{2, 0, 6}));
  EXPECT_EQ(make()->embed(zeros({0, 3, 6})).shape(), (Shape{0, 3, 6}));
}

TEST_P(AddedCodes, HeadsAndScoresStayAsTheyAre) {
  const auto code = make();
  const Tensor q = randn({1, 2, 3, 4});
  EXPECT_TRUE(same_bits(code->rotate(q, 2), q));
  AttentionSpec spec;
  code->modify(spec, Corner::top_left);
  EXPECT_TRUE(spec.modifiers.empty() && spec.reweights.empty());
}

TEST_P(AddedCodes, WrongInputSaysWhatIsWrong) {
  const auto code = make();
  EXPECT_EQ(error_message([&] {
              code->embed(zeros({2, 3, 5}));
            }),
            "[" + GetParam() + "] x is [2, 3, 5]: it must be [B, T, 6]");
  const std::string before = "[" + GetParam() + "] positions -1 to 1: only 0 to ";
  EXPECT_EQ(error_message([&] {
              code->embed(zeros({2, 3, 6}), -1);
            }).substr(0, before.size()),
            before);
  EXPECT_EQ(error_message([&] { make_position({.name = GetParam()}, {.heads = 2, .head = 3}); }),
            "[" + GetParam() + "] embed is 0: it must be at least 1");
}

std::vector<std::string> added_codes() {
  std::vector<std::string> names;
  for (const PositionKind& kind : positions()) {
    if (kind.way == PositionWay::embeddings) names.emplace_back(kind.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Position, AddedCodes, testing::ValuesIn(added_codes()),
                         [](const auto& at) { return at.param; });

TEST(AddedCode, BeyondTheLastPositionTheRemedyIsNamed) {
  for (const std::string name : {"learned", "axial", "sine_code"}) {
    const auto code = make_position({.name = name, .max_length = 12}, {.embed = 6});
    EXPECT_EQ(error_message([&] {
                code->embed(zeros({1, 3, 6}), 10);
              }),
              "[" + name + "] positions 10 to 12: only 0 to 11 exist, raise max_length");
  }
}

}  // namespace
}  // namespace heed
