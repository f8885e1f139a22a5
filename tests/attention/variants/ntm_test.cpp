// The NTM layer: its controllers, its start, and a machine set by hand that stores and recalls.
#include "heed/attention/variants/ntm.h"

#include <gtest/gtest.h>

#include "heed/autograd/gradcheck.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/join.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "tests/attention/variants/beams.h"
#include "tests/support/attention_weights.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

constexpr NtmController kControllers[] = {NtmController::lstm, NtmController::gru,
                                          NtmController::feed_forward};

TEST(Ntm, EveryControllerRunsDecodesAndLearns) {
  for (const NtmController controller : kControllers) {
    Generator generator(1);
    Ntm layer({.embed = 4, .slots = 5, .width = 3, .controller = controller, .hidden = 6},
              generator);
    const Tensor x = normal({2, 4, 4}, 0.0, 1.0, generator);
    const auto state = layer.start({.batch = 2});
    const Tensor first = layer.step(slice(x, 1, 0, 1), *state);
    const Tensor rest = layer.step(slice(x, 1, 1, 4), *state);
    EXPECT_LT(test::max_relative_error(concat({first, rest}, 1), layer({.x = x})), 1e-6);

    layer.to(DType::f64);
    std::vector<Tensor> leaves = layer.parameters();
    const auto f = [&](std::span<const Tensor> now) {
      std::size_t next = 0;
      const auto put = [&](const std::string&, Tensor& parameter) { parameter = now[next++]; };
      const auto pass = [](Module&) {};
      ParameterVisitor replace(put, pass);
      replace.root(layer);
      return layer({.x = cast_data(x, DType::f64)});
    };
    const GradCheckResult result = gradcheck(f, leaves, {.tolerance = 1e-5});
    EXPECT_TRUE(result.ok) << result.message;
  }
}

TEST(Ntm, HeadsStartAtTheFirstSlotAndWeightsSumToOne) {
  const Ntm layer({.embed = 4, .slots = 128, .width = 3, .read_heads = 2, .write_heads = 3});
  const Tensor w = test::weights_of(layer, {.x = randn({2, 6, 4})});
  EXPECT_EQ(w.shape(), (Shape{2, 2, 6, 128}));
  EXPECT_LT(test::max_relative_error(sum(w, {3}), ones({2, 2, 6})), 1e-5);
  EXPECT_EQ(layer.places.shape(), (Shape{5, 128}));
}

// One read and one write head without a controller's say: biases alone move them. x goes in by the
// add vector, the write head walks on by one slot, the read head stays where it began.
TEST(Ntm, AMachineSetByHandStoresInARow) {
  constexpr std::int64_t kSlots = 6, kWidth = 2, kAddress = kWidth + 6;
  Ntm layer({.embed = 2,
             .slots = kSlots,
             .width = kWidth,
             .controller = NtmController::feed_forward,
             .hidden = 2});
  for (Tensor& parameter : layer.parameters()) copy_into(parameter, zeros(parameter.shape()));
  for (std::int64_t head = 0; head < 2; ++head) {
    layer.places.mutable_data<float>()[head * kSlots] = 60.0f;  // at slot 0
    float* const bias = layer.heads.bias.mutable_data<float>() + head * kAddress;
    bias[kWidth + 1] = -60.0f;                       // the gate: by place alone
    bias[kWidth + 2 + (head == 0 ? 1 : 2)] = 60.0f;  // read head stays, write head steps on
  }
  const std::int64_t erase = 2 * kAddress, add = erase + kWidth;
  for (std::int64_t i = 0; i < kWidth; ++i) {
    layer.feed_forward->weight.data.mutable_data<float>()[i * (2 + kWidth) + i] = 1.0f;
    layer.heads.bias.mutable_data<float>()[erase + i] = 60.0f;
    layer.heads.weight.data.mutable_data<float>()[(add + i) * 2 + i] = 1.0f;
    layer.out_proj.weight.data.mutable_data<float>()[i * (2 + kWidth) + 2 + i] =
        1.0f;  // what is read
  }
  // Six steps take the write head from slot 1 around the circle to slot 0, where the reader waits.
  const Tensor x = 0.5 * randn({1, kSlots, 2});
  const Tensor y = layer({.x = x});  // [1, 6, 2]
  EXPECT_LT(test::max_relative_error(slice(y, 1, 0, kSlots - 1), zeros({1, kSlots - 1, 2})), 1e-6);
  EXPECT_LT(test::max_relative_error(slice(y, 1, kSlots - 1, kSlots),
                                     tanh(slice(x, 1, kSlots - 1, kSlots))),
            1e-6);
  const Tensor w = test::weights_of(layer, {.x = x});  // [1, 1, 6, 6]
  EXPECT_LT(test::max_relative_error(slice(w, 3, 0, 1), ones({1, 1, kSlots, 1})), 1e-6);
}

// A controller that is not told what was read, and whose word alone is the result, is a plain RNN.
TEST(Ntm, TheControllerKeepsItsState) {
  constexpr std::int64_t E = 4, kRead = 3, C = 6;
  for (const NtmController controller : {NtmController::lstm, NtmController::gru}) {
    Ntm layer({.embed = E, .slots = 5, .width = kRead, .controller = controller, .hidden = C});
    Tensor told = slice(layer.recurrent->weights[0].w_ih.data.detach(), 1, E, E + kRead);
    copy_into(told, zeros(told.shape()));
    Tensor heard = slice(layer.out_proj.weight.data.detach(), 1, C, C + kRead);
    copy_into(heard, zeros(heard.shape()));
    const Tensor x = randn({2, 7, E});
    const Tensor said = (*layer.recurrent)(concat({x, zeros({2, 7, kRead})}, 2)).output;
    const Tensor expected = layer.out_proj(concat({said, zeros({2, 7, kRead})}, 2));
    EXPECT_LT(test::max_relative_error(layer({.x = x}), expected), 1e-6);
  }
}

TEST(Ntm, BeamsFollowTheirSequences) {
  for (const NtmController controller : kControllers) {
    const Ntm layer({.embed = 4, .slots = 5, .width = 3, .controller = controller, .hidden = 6});
    test::check_beams(layer, 4);
  }
}

TEST(Ntm, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] { Ntm({.embed = 4, .slots = 4, .shifts = 2}); }),
            "[ntm] shifts 2 and slots 4: moves by -2 to 2 must lead to different slots");
  const Ntm layer({.embed = 4});
  EXPECT_EQ(
      error_message([&] {
        layer({.x = zeros({2, 3, 4}), .memory = zeros({2, 5, 4})});
      }),
      "[ntm] a memory [2, 5, 4] is given: this layer attends to x itself; use one that takes a "
      "memory, such as multi_head");
}

}  // namespace
}  // namespace heed
