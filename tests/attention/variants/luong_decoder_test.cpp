#include "heed/attention/variants/luong_decoder.h"

#include <gtest/gtest.h>

#include "heed/attention/variants/global.h"
#include "heed/autograd/gradcheck.h"
#include "heed/autograd/tape.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/join.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::luong_decoder_test {
namespace {

Tensor drawn(const Shape& shape, std::uint64_t seed, DType dtype = DType::f32) {
  Generator generator(seed);
  return normal(shape, 0.0, 1.0, generator, dtype);
}

std::vector<LuongDecoderConfig> configs() {
  std::vector<LuongDecoderConfig> all;
  for (const Cell cell : {Cell::gru, Cell::lstm}) {
    for (const bool feeding : {false, true}) {
      for (const char* const attention :
           {"global score=general", "luong_general", "local_m window=2", "local_p window=2",
            "multi_head heads=2"}) {
        all.push_back({.embed = 6,
                       .cell = cell,
                       .layers = 2,
                       .input_feeding = feeding,
                       .attention = attention});
      }
    }
  }
  return all;
}

std::string name_of(const LuongDecoderConfig& c) {
  return fmt::format("{} {} {}", c.cell == Cell::gru ? "gru" : "lstm",
                     c.input_feeding ? "fed" : "unfed", c.attention.text());
}

TEST(LuongDecoder, StepsGiveWhatTheWholeGives) {
  const NoGrad off;  // which steps of some layers want
  const Tensor y = drawn({3, 7, 6}, 1), memory = drawn({3, 9, 6}, 2);
  const Tensor lengths = from_values<std::int64_t>({9, 4, 7}, {3});
  for (const LuongDecoderConfig& config : configs()) {
    const LuongDecoder decoder(config);
    const LuongDecoder::Start start{.memory = memory, .lengths = lengths};
    const Tensor whole = decoder(y, start);
    EXPECT_EQ(whole.shape(), y.shape());
    LuongDecoder::State state = decoder.start(start);
    const std::vector<Tensor> parts{
        decoder.step(slice(y, 1, 0, 1), state), decoder.step(slice(y, 1, 1, 4), state),
        decoder.step(slice(y, 1, 4, 4), state), decoder.step(slice(y, 1, 4, 7), state)};
    EXPECT_LE(test::max_relative_error(concat(parts, 1), whole), 2e-6) << name_of(config);
  }
}

TEST(LuongDecoder, GradientsAreThoseOfDifferences) {
  for (const LuongDecoderConfig& config : configs()) {
    if (config.attention.mechanism().name == "local_p") continue;  // its window has edges
    if (config.attention.mechanism().name == "multi_head" && config.input_feeding) continue;
    LuongDecoder decoder(config);
    decoder.to(DType::f64);
    std::vector<Tensor> leaves;
    leaves.push_back(drawn({2, 3, 6}, 1, DType::f64).requires_grad());
    leaves.push_back(drawn({2, 4, 6}, 2, DType::f64).requires_grad());
    for (const Tensor& parameter : decoder.parameters()) leaves.push_back(parameter);
    const auto f = [&](std::span<const Tensor> now) {
      std::size_t next = 2;
      const auto put = [&](const std::string&, Tensor& parameter) { parameter = now[next++]; };
      const auto pass = [](Module&) {};
      ParameterVisitor replace(put, pass);
      replace.root(decoder);
      return decoder(now[0], {.memory = now[1]});
    };
    const GradCheckResult result = gradcheck(f, leaves);
    EXPECT_TRUE(result.ok) << name_of(config) << ": " << result.message;
  }
}

// a_t = tanh(W_c [c_t; h_t]), and a_{t-1} goes into the cell beside y_t.
TEST(LuongDecoder, WhatWasAttendedToGoesIntoTheNextStep) {
  LuongDecoder decoder({.embed = 4, .cell = Cell::gru});
  const Tensor y = drawn({2, 2, 4}, 1), memory = drawn({2, 5, 4}, 2);
  const auto attentional = [&](const Tensor& h) {
    const Tensor c = (*decoder.attention)({.x = h, .memory = memory});
    return decoder.combine(concat({c, h}, -1));
  };
  const auto at = [&](std::int64_t t) { return slice(y, 1, t, t + 1); };
  const RecurrentResult first = (*decoder.cell)(concat({at(0), zeros({2, 1, 4})}, -1));
  const Tensor a0 = attentional(first.output);
  const RecurrentResult second = (*decoder.cell)(concat({at(1), a0}, -1), {.state = first.state});
  const Tensor expected = concat({a0, attentional(second.output)}, 1);
  EXPECT_LE(test::max_relative_error(decoder(y, {.memory = memory}), expected), 1e-6);
}

TEST(LuongDecoder, OnlyTheDecoderCombines) {
  const LuongDecoder decoder({.embed = 4, .attention = "luong_general"});
  std::int64_t combines = 0;
  for (const NamedTensor& named : decoder.named_parameters()) {
    EXPECT_FALSE(named.name.starts_with("attention.combine")) << named.name;
    if (named.name.starts_with("combine")) ++combines;
    if (named.name == "attention.weight") {
      EXPECT_EQ(named.tensor.shape(), (Shape{4, 4}));
    }
  }
  EXPECT_EQ(combines, 1);
}

TEST(LuongDecoder, StartsFromTheEncodersState) {
  const LuongDecoder decoder({.embed = 4, .layers = 2});
  const Tensor y = drawn({2, 3, 4}, 1), memory = drawn({2, 5, 4}, 2);
  const LuongDecoder::Start zero{.memory = memory},
      given{.memory = memory, .state = zeros({2, 2, 4}), .cell = zeros({2, 2, 4})},
      other{.memory = memory, .state = drawn({2, 2, 4}, 3), .cell = drawn({2, 2, 4}, 4)};
  EXPECT_TRUE(test::same_bits(decoder(y, zero), decoder(y, given)));
  EXPECT_FALSE(test::same_bits(decoder(y, zero), decoder(y, other)));
}

TEST(LuongDecoder, BeamsCanBeReordered) {
  const NoGrad off;
  const Tensor y = drawn({2, 3, 6}, 1), memory = drawn({2, 9, 6}, 2);
  for (const LuongDecoderConfig& config : configs()) {
    const LuongDecoder decoder(config);
    LuongDecoder::State state = decoder.start({.memory = memory});
    decoder.step(slice(y, 1, 0, 2), state);
    const std::vector<std::int64_t> from = {1, 0, 1};
    state.reorder(from);
    const Tensor last = view::slice(y, 1, 2, 3), whole = decoder(y, {.memory = memory});
    const Tensor now = decoder.step(
        concat({view::slice(last, 0, 1, 2), view::slice(last, 0, 0, 1), view::slice(last, 0, 1, 2)},
               0),
        state);
    for (std::int64_t b = 0; b < 3; ++b) {
      const std::int64_t was = from[static_cast<std::size_t>(b)];
      const Tensor expected = clone_data(view::slice(view::select(whole, 0, was), 0, 2, 3));
      EXPECT_LE(test::max_relative_error(clone_data(view::select(now, 0, b)), expected), 2e-6)
          << name_of(config);
    }
  }
}

TEST(LuongDecoder, AGradientThatWouldBeLostIsAnError) {
  struct Silent : GlobalAttention {
    using GlobalAttention::GlobalAttention;
    Tensor step(const Tensor& x, DecodeState& state) const override {
      return GlobalAttention::step(x, state).detach();
    }
  };
  LuongDecoder decoder({.embed = 4});
  decoder.attention = std::make_unique<Silent>(GlobalConfig{.embed = 4});
  const Tensor y = zeros({1, 2, 4});
  EXPECT_EQ(error_message([&] {
              decoder(y, {.memory = zeros({1, 3, 4})});
            }),
            "[luong_decoder] steps of attention global score=general have no gradient: learn with "
            "input_feeding=false, or with global, bahdanau, local_m or local_p");
  const NoGrad off;
  EXPECT_EQ(decoder(y, {.memory = zeros({1, 3, 4})}).shape(), y.shape());
}

TEST(LuongDecoder, NothingToDecodeIsFine) {
  const LuongDecoder decoder({.embed = 4});
  EXPECT_EQ(decoder(zeros({2, 0, 4}), {.memory = zeros({2, 3, 4})}).shape(), (Shape{2, 0, 4}));
  EXPECT_EQ(decoder(zeros({0, 2, 4}), {.memory = zeros({0, 3, 4})}).shape(), (Shape{0, 2, 4}));
}

TEST(LuongDecoder, WrongUseSaysWhatIsWrong) {
  const LuongDecoder decoder({.embed = 4});
  EXPECT_EQ(error_message([&] {
              decoder(zeros({2, 3, 4}), {.memory = zeros({2, 3, 5})});
            }),
            "[luong_decoder] memory is [2, 3, 5]: it must be [B, Tk, 4]");
  EXPECT_EQ(error_message([&] {
              decoder(zeros({2, 3, 4}), {.memory = {}});
            }),
            "[luong_decoder] memory is undefined: it must be [B, Tk, 4]");
  EXPECT_EQ(error_message([&] {
              decoder(zeros({1, 3, 4}), {.memory = zeros({2, 3, 4})});
            }),
            "[luong_decoder] y is [1, 3, 4]: it must be [2, T, 4]");
  EXPECT_EQ(error_message([] { LuongDecoder({.embed = 4, .attention = "average"}); }),
            "[luong_decoder] attention \"average\" cannot attend to a memory step by step: global, "
            "local_p and multi_head can");
}

}  // namespace
}  // namespace heed::luong_decoder_test
