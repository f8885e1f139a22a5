#include "heed/study/sequence_layer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/autograd/tape.h"
#include "heed/nn/rnn.h"
#include "heed/ops/join.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

using testing::HasSubstr;

void expect_equal(const Tensor& a, const Tensor& b, float tolerance = 1e-5f) {
  ASSERT_EQ(a.shape(), b.shape());
  const auto x = contiguous(a).to_vector<float>(), y = contiguous(b).to_vector<float>();
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], tolerance) << i;
}

TEST(SequenceLayer, EachKeepsLengthAndWidthAndLearns) {
  for (const char* const name : {"conv1d", "gru", "lstm", "multi_head"}) {
    const auto layer = make_sequence_layer(name, {"embed=16"});
    for (const std::int64_t T : {1, 2, 33}) {
      const Tensor y = (*layer)(randn({2, T, 16}));
      EXPECT_EQ(y.shape(), (Shape{2, T, 16})) << name;
      backward(y, ones({2, T, 16}));
    }
    for (const NamedTensor& p : layer->named_parameters()) {
      EXPECT_TRUE(p.tensor.grad().defined()) << name << ": " << p.name;
    }
    EXPECT_EQ((*layer)(randn({2, 0, 16})).shape(), (Shape{2, 0, 16})) << name;
  }
}

TEST(SequenceLayer, PositionsOneByOneGiveTheSame) {
  const NoGrad off;
  for (const char* const name : {"conv1d", "gru", "lstm", "multi_head"}) {
    const auto layer = make_sequence_layer(name, {"embed=8"});
    const Tensor x = randn({3, 7, 8});
    const std::vector<Tensor> y = layer->on_positions(split(x, 7, 1));
    ASSERT_EQ(y.size(), 7u);
    expect_equal(concat(y, 1), (*layer)(x));
    EXPECT_TRUE(layer->on_positions({}).empty());
  }
}

TEST(SequenceLayer, AConvolutionLooksBackOnly) {
  const NoGrad off;
  const auto layer = make_sequence_layer("conv1d", {"embed=4", "kernel=3", "dilation=2"});
  const Tensor x = randn({1, 12, 4});
  Tensor other = clone(x);
  for (int e = 0; e < 4; ++e) other.mutable_data<float>()[5 * 4 + e] += 1.0f;
  const Tensor a = (*layer)(x), b = (*layer)(other);
  for (std::int64_t t = 0; t < 12; ++t) {
    const bool same = select(a, 1, t).to_vector<float>() == select(b, 1, t).to_vector<float>();
    EXPECT_EQ(same, t != 5 && t != 7 && t != 9) << t;
  }
}

TEST(SequenceLayer, ARecurrenceIsTheRecurrentLayer) {
  const NoGrad off;
  Generator ours(3), theirs(3);
  const auto layer = make_sequence_layer("gru", {"embed=6"}, ours);
  const Gru gru({.input = 6, .hidden = 6}, theirs);
  const Tensor x = randn({2, 5, 6});
  expect_equal((*layer)(x), gru(x).output, 0.0f);
}

TEST(SequenceLayer, OnlyWhatKeepsTheLength) {
  EXPECT_THAT(error_message([] { make_sequence_layer("conv2d"); }),
              HasSubstr("did you mean \"conv1d\"?"));
  EXPECT_THAT(error_message([] { make_sequence_layer("xyzzy"); }), HasSubstr("conv1d, gru, lstm"));
  EXPECT_THAT(error_message([] { make_sequence_layer("conv1d", {"kernl=3"}); }),
              HasSubstr("kernel"));
  EXPECT_THAT(error_message([] {
                (*make_sequence_layer("conv1d"))(randn({1, 5, 3}));
              }),
              HasSubstr("[conv1d] x [1, 5, 3]: it must be [B, T, 64]"));
}

}  // namespace
}  // namespace heed
