// The neural Turing machine as a model: it is its layer (whose own test has the plain twin), with
// vectors of other sizes; gradients, time that does not run backwards, and heads to see.
#include "heed/models/turing_machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/autograd/gradcheck.h"
#include "heed/autograd/tape.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
#include "tests/models/model_case.h"
#include "tests/support/error_message.h"

namespace heed::turing_machine_test {
namespace {

using test::row_of;
using test::same_bits;
using testing::HasSubstr;

TuringMachineConfig small(std::int64_t inputs, std::int64_t outputs, NtmController controller) {
  return {.inputs = inputs,
          .outputs = outputs,
          .machine = {.slots = 7,
                      .width = 5,
                      .read_heads = 2,
                      .write_heads = 1,
                      .controller = controller,
                      .hidden = 9}};
}

constexpr NtmController kControllers[] = {NtmController::lstm, NtmController::gru,
                                          NtmController::feed_forward};

TEST(TuringMachine, IsItsLayer) {
  const NoGrad no_grad;
  for (const NtmController controller : kControllers) {
    for (const auto& [inputs, outputs] : {std::pair{5, 3}, {4, 4}, {2, 6}}) {
      const TuringMachine model(small(inputs, outputs, controller));
      const Tensor x = randn({3, 6, inputs});
      const std::int64_t E = std::max(inputs, outputs);
      Tensor padded = zeros({3, 6, E});
      for (std::int64_t i = 0; i < 18; ++i) {
        std::copy_n(x.data<float>() + i * inputs, inputs, padded.mutable_data<float>() + i * E);
      }
      const Tensor whole = model.machine({.x = padded});  // [3, 6, E]
      EXPECT_TRUE(same_bits(model(x), clone_data(view::slice(whole, 2, 0, outputs))));
    }
  }
}

TEST(TuringMachine, EveryParameterLearns) {
  for (const NtmController controller : kControllers) {
    const TuringMachine model(small(5, 3, controller));
    test::expect_learns(model, sum(square(model(randn({3, 6, 5})))));
  }
}

TEST(TuringMachine, Gradients) {
  for (const NtmController controller : kControllers) {
    Generator generator(3);
    TuringMachine model(small(3, 4, controller), generator);
    model.to(DType::f64);
    const Tensor x = cast_data(randn({2, 4, 3}), DType::f64);
    const std::vector<Tensor> parameters = model.parameters();
    const GradCheckResult result = gradcheck([&](std::span<const Tensor>) { return model(x); },
                                             parameters, {.tolerance = 1e-5, .every = 3});
    EXPECT_TRUE(result.ok) << result.message;
  }
}

TEST(TuringMachine, SameBitsWithAnyThreads) {
  TuringMachine model({.inputs = 9, .outputs = 8});
  const Tensor x = randn({5, 7, 9});
  test::expect_same_bits_with_any_threads(model, [&] { return sum(square(model(x))); });
}

TEST(TuringMachine, LaterStepsAndOtherRowsChangeNothing) {
  const NoGrad no_grad;
  for (const NtmController controller : kControllers) {
    const TuringMachine model(small(5, 3, controller));
    const Tensor x = randn({2, 6, 5});
    Tensor other = clone_data(x);
    for (int i = 4 * 5; i < 6 * 5; ++i) other.mutable_data<float>()[i] += 1.0f;
    const Tensor before = model(x), after = model(other);
    EXPECT_TRUE(same_bits(row_of(after, 1), row_of(before, 1)));
    for (std::int64_t t = 0; t < 6; ++t) {
      EXPECT_EQ(same_bits(row_of(row_of(after, 0), t), row_of(row_of(before, 0), t)), t < 4) << t;
    }
  }
}

TEST(TuringMachine, HeadsCanBeSeen) {
  const NoGrad no_grad;
  const TuringMachine model(small(5, 3, NtmController::lstm));
  std::vector<LayerWeights> weights;
  const Tensor x = randn({2, 6, 5});
  EXPECT_TRUE(same_bits(model(x, &weights), model(x)));
  ASSERT_EQ(weights.size(), 1u);
  EXPECT_EQ(weights[0].self.shape(), (Shape{2, 2, 6, 7})) << "read heads";
  EXPECT_EQ(weights[0].cross.shape(), (Shape{2, 1, 6, 7})) << "write heads";
  for (const Tensor& of : {weights[0].self, weights[0].cross}) {
    for (const float total : sum(of, {3}).to_vector<float>()) EXPECT_NEAR(total, 1.0, 1e-5);
  }
  EXPECT_FALSE(same_bits(clone_data(view::slice(weights[0].self, 1, 0, 1)), weights[0].cross));
}

TEST(TuringMachine, BadInputSaysWhatIsExpected) {
  const TuringMachine model(small(5, 3, NtmController::lstm));
  EXPECT_THAT(error_message([&] { model(randn({2, 6, 4})); }), HasSubstr("[B, T, 5]"));
  EXPECT_THAT(error_message([&] { TuringMachine({.inputs = 3}); }), HasSubstr("3 and 0 bits"));
  TuringMachineConfig config = small(5, 3, NtmController::lstm);
  config.machine.shifts = 4;
  EXPECT_THAT(error_message([&] { config.validate(); }), HasSubstr("shifts 4"));
}

}  // namespace
}  // namespace heed::turing_machine_test
