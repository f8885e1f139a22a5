#include "heed/attention/variants/local_m.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

LocalMConfig config(std::int64_t embed, std::int64_t window) {
  return {.global = {.embed = embed}, .window = window};
}

// Scores are the states times 1: the window of query t holds states t - 1, t and t + 1.
TEST(LocalMAttention, AWindowByHand) {
  LocalMAttention layer(config(1, 1));
  layer.weight = ones({1, 1});
  const Tensor x = ones({1, 6, 1});
  const Tensor h = from_values<float>({0, 1, 2, 3}, {1, 4, 1});
  const std::vector<float> y = layer({.x = x, .memory = h}).to_vector<float>();
  const auto context = [](double first, double last) {
    double sum = 0.0, total = 0.0;
    for (double s = first; s <= last; ++s) sum += s * std::exp(s), total += std::exp(s);
    return sum / total;
  };
  EXPECT_NEAR(y[0], context(0, 1), 1e-6);
  EXPECT_NEAR(y[1], context(0, 2), 1e-6);
  EXPECT_NEAR(y[2], context(1, 3), 1e-6);
  EXPECT_NEAR(y[3], context(2, 3), 1e-6);
  EXPECT_NEAR(y[4], 3.0, 1e-6);
  EXPECT_EQ(y[5], 0.0f);  // the source has ended
}

TEST(LocalMAttention, AWindowOverAllIsGlobalAttention) {
  Generator generator(2);
  const Tensor x = normal({2, 9, 8}, 0.0, 1.0, generator);
  const Tensor h = normal({2, 12, 8}, 0.0, 1.0, generator);
  Generator one(3), other(3);
  const LocalMAttention local(
      {.global = {.embed = 8, .score = AlignScore::additive}, .window = 1000}, one);
  const GlobalAttention global({.embed = 8, .score = AlignScore::additive}, other);
  const AttentionInput in{.x = x, .memory = h};
  EXPECT_LE(test::max_relative_error(local(in), global(in)), 1e-6);
}

TEST(LocalMAttention, StepsKnowWhereTheyStand) {
  const LocalMAttention layer(config(1, 0));
  const Tensor h = from_values<float>({5, 6, 7}, {1, 3, 1});
  const auto state = layer.start({.memory = h});
  for (const float expected : {5.0f, 6.0f, 7.0f, 0.0f}) {
    EXPECT_FLOAT_EQ(static_cast<float>(layer.step(ones({1, 1, 1}), *state).item()), expected);
  }
}

TEST(LocalMAttention, WrongUseSaysWhatIsWrong) {
  LocalMConfig bad;
  EXPECT_NE(error_message([&] { io::set_fields(bad, {"window=-1"}); }), "(no error)");
}

}  // namespace
}  // namespace heed
