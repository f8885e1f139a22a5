// The forms of the decoder: sizes, steps beside whole sequences with their gradients, weights, and
// configs that do not fit together.
#include "heed/models/recurrent_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/autograd/gradcheck.h"
#include "heed/autograd/tape.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/join.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "tests/models/model_case.h"
#include "tests/support/error_message.h"

namespace heed::recurrent_decoder_test {
namespace {

using test::max_relative_error;
using testing::HasSubstr;

constexpr std::int64_t B = 3, T = 4, S = 5, E = 6, H = 7, M = 9, kLayers = 2;

RecurrentDecoderConfig small(Feeding feeding, Readout readout,
                             std::optional<AttentionChoice> attention = "bahdanau") {
  return {.embed = E,
          .hidden = H,
          .memory = M,
          .cell = Cell::lstm,
          .layers = kLayers,
          .attention = std::move(attention),
          .feeding = feeding,
          .readout = readout};
}

Memory memory_of(DType dtype = DType::f32) {
  return {.states = randn({B, S, M}, dtype),
          .lengths = test::lengths_of({5, 2, 3}),
          .state = randn({B, kLayers, H}, dtype),
          .cell = randn({B, kLayers, H}, dtype)};
}

std::vector<RecurrentDecoderConfig> forms() {
  return {small(Feeding::context, Readout::concat),
          small(Feeding::context, Readout::maxout),
          small(Feeding::context, Readout::state),
          small(Feeding::none, Readout::attentional),
          small(Feeding::none, Readout::attentional, "luong_general"),
          small(Feeding::readout, Readout::attentional, "local_p score=general window=2"),
          small(Feeding::readout, Readout::attentional, "multi_head heads=1"),
          small(Feeding::readout, Readout::maxout, "luong_location max_length=9"),
          small(Feeding::none, Readout::state, {}),
          small(Feeding::none, Readout::concat, {}),
          small(Feeding::context, Readout::concat, {})};
}

TEST(RecurrentDecoder, StepsGiveTheWholeSequence) {
  const NoGrad no_grad;
  for (const RecurrentDecoderConfig& config : forms()) {
    RecurrentDecoder decoder(config);
    decoder.eval();
    const Memory memory = memory_of();
    const Tensor y = randn({B, T, E});
    Tensor weights;
    const Tensor whole = decoder(y, memory, &weights);
    EXPECT_EQ(to_string(whole.shape()), to_string(Shape{B, T, config.readout_size()}));
    RecurrentDecoder::State state = decoder.start(memory);
    std::vector<Tensor> parts, seen;
    for (std::int64_t t = 0; t < T; ++t) {
      Tensor now;
      state.weights = &now;
      parts.push_back(decoder.step(slice(y, 1, t, t + 1), state));
      if (now.defined()) seen.push_back(now);
    }
    EXPECT_LE(max_relative_error(concat(parts, 1), whole), 1e-5);
    EXPECT_EQ(weights.defined(), config.attention.has_value());
    if (!config.attention) continue;
    EXPECT_EQ(to_string(weights.shape()), to_string(Shape{B, 1, T, S}));
    EXPECT_LE(max_relative_error(concat(seen, 2), weights), 1e-5);
    for (std::int64_t t = 0; t < T; ++t) {
      const Tensor row = select(select(select(weights, 0, 1), 0, 0), 0, t);  // [S], of length 2
      EXPECT_EQ(sum(slice(row, 0, 2, S)).item(), 0.0) << "padding has no weight";
    }
  }
}

TEST(RecurrentDecoder, EveryFormHasGradients) {
  for (const RecurrentDecoderConfig& config : forms()) {
    RecurrentDecoder decoder(config);
    decoder.to(DType::f64);
    const Memory memory = memory_of(DType::f64);
    const Tensor y = randn({B, T, E}, DType::f64);
    std::vector<Tensor> leaves = decoder.parameters();
    for (Tensor leaf : {memory.states, memory.state, y}) leaves.push_back(leaf.requires_grad());
    const GradCheckResult result =
        gradcheck([&](std::span<const Tensor>) { return decoder(y, memory); }, leaves);
    EXPECT_TRUE(result.ok) << (config.attention ? config.attention->text() : "none") << ": "
                           << result.message;
  }
}

TEST(RecurrentDecoder, WrongConfigsSayWhatIsWrong) {
  const auto complaint = [](const RecurrentDecoderConfig& config) {
    return error_message([&] { RecurrentDecoder decoder(config); });
  };
  EXPECT_EQ(complaint(small(Feeding::none, Readout::attentional, {})),
            "[recurrent] attention = \"none\" with readout = \"attentional\": there is no context "
            "to combine; choose an attention, such as \"bahdanau\", or readout = \"concat\"");
  EXPECT_THAT(complaint(small(Feeding::readout, Readout::maxout, {})),
              HasSubstr("attention = \"none\" with feeding = \"readout\""));
  EXPECT_THAT(complaint(small(Feeding::readout, Readout::concat)),
              HasSubstr("use readout = \"attentional\" or \"maxout\""));
  EXPECT_THAT(complaint(small(Feeding::context, Readout::concat, "pooling")),
              HasSubstr("attends to a memory"));
  EXPECT_THAT(complaint(small(Feeding::context, Readout::concat, "lsh")), HasSubstr("lsh"));
  EXPECT_THAT(complaint(small(Feeding::none, Readout::attentional, "global score=dot")),
              HasSubstr("dot products need equal sizes"));
}

}  // namespace
}  // namespace heed::recurrent_decoder_test
