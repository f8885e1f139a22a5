// When gradients are final during a backward pass.
#include "heed/autograd/final_gradients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "heed/autograd/checkpoint.h"
#include "heed/autograd/tape.h"
#include "heed/nn/reversible.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

// The names of leaves in the order in which they were final, and their gradients at that moment.
struct Report {
  std::vector<std::string> order;
  std::map<std::string, Tensor> gradients;
};

Report watch_pass(const Tensor& loss, const std::map<std::string, Tensor>& leaves) {
  Report report;
  const FinalGradients watch([&](const Node& node) {
    for (const auto& [name, leaf] : leaves) {
      if (&*leaf.node() != &node) continue;
      report.order.push_back(name);
      report.gradients[name] = clone_data(leaf.grad());
    }
  });
  loss.backward();
  return report;
}

Tensor weight(std::uint64_t seed) {
  Generator generator(seed);
  return normal({4, 4}, 0, 1, generator).requires_grad();
}

void expect_final(const Report& report, const std::map<std::string, Tensor>& leaves) {
  for (const auto& [name, gradient] : report.gradients) {
    EXPECT_TRUE(test::same_bits(gradient, leaves.at(name).grad())) << name << " was not final";
  }
}

TEST(FinalGradients, AreReportedFromTheLastLayerToTheFirst) {
  const std::map<std::string, Tensor> w = {{"a", weight(1)}, {"b", weight(2)}, {"c", weight(3)}};
  const Tensor x = ones({2, 4});
  const Tensor y = matmul(tanh(matmul(tanh(matmul(x, w.at("a"))), w.at("b"))), w.at("c"));
  const Report report = watch_pass(sum(y), w);
  EXPECT_THAT(report.order, ElementsAre("c", "b", "a"));
  expect_final(report, w);
}

TEST(FinalGradients, OfALeafThatIsUsedTwiceComeAfterTheFirstUse) {
  const std::map<std::string, Tensor> w = {{"tied", weight(1)}, {"b", weight(2)}};
  const Tensor x = ones({2, 4});
  const Tensor y = matmul(tanh(matmul(matmul(x, w.at("tied")), w.at("b"))), w.at("tied"));
  const Tensor unused = matmul(y, w.at("b"));  // not a part of the loss
  const Report report = watch_pass(sum(y * y), w);
  EXPECT_THAT(report.order, ElementsAre("b", "tied"));
  expect_final(report, w);
}

// b is used inside of the second checkpoint too, where the tape does not see it before.
TEST(FinalGradients, WaitForPartsThatAreComputedAgain) {
  const std::map<std::string, Tensor> w = {{"a", weight(1)}, {"b", weight(2)}, {"c", weight(3)}};
  const auto part = [&](const char* name, const Tensor& x) {
    const Tensor inputs[] = {x};
    const Tensor inner = w.at(name);
    return checkpoint([inner](std::span<const Tensor> in) { return tanh(matmul(in[0], inner)); },
                      inputs);
  };
  const Tensor x = matmul(ones({2, 4}), w.at("a"));
  const Tensor y = matmul(matmul(part("c", part("b", x)), w.at("b")), w.at("c"));
  const Report report = watch_pass(sum(y), w);
  EXPECT_THAT(report.order, UnorderedElementsAre("a", "b", "c"));
  expect_final(report, w);
}

TEST(FinalGradients, WaitForReversibleLayers) {
  const std::map<std::string, Tensor> w = {{"a", weight(1)}, {"b", weight(2)}};
  const auto part = [&](const char* name) {
    const Tensor inner = w.at(name);
    return [inner](const Tensor& x) { return tanh(matmul(x, inner)); };
  };
  const ReversibleLayer layers[] = {reversible(part("a"), part("b"))};
  const Tensor x = ones({2, 4}).requires_grad();
  const Streams y = run_reversible(layers, {x, x});
  const Report report = watch_pass(sum(matmul(y.x1 + y.x2, w.at("b"))), w);
  EXPECT_THAT(report.order, ElementsAre("b")) << "only the layers use a";
  expect_final(report, w);
}

TEST(FinalGradients, AreReportedOnlyWhileSomebodyWatches) {
  const std::map<std::string, Tensor> w = {{"a", weight(1)}};
  const auto loss = [&] { return sum(matmul(ones({2, 4}), w.at("a"))); };
  int count = 0;
  {
    const FinalGradients outer([&](const Node&) { ++count; });
    EXPECT_EQ(watch_pass(loss(), w).order.size(), 1u);
    EXPECT_EQ(count, 0) << "the innermost alone is told";
    loss().backward();
  }
  loss().backward();
  EXPECT_EQ(count, 1);
}

TEST(FinalGradients, AnOpThatHidesAPassIsAnError) {
  const Tensor a = weight(1);
  const Tensor x = ones({2, 4}).requires_grad();
  const Tensor hiding = record("hiding", {x}, ones({}), [&](Backward&) {
    const GradScope on(GradMode::on);
    sum(a).backward();
  });
  EXPECT_THROW(watch_pass(hiding, {{"a", a}}), InternalError);
  EXPECT_EQ(watch_pass(sum(a), {{"a", a}}).order.size(), 1u) << "the next pass is watched again";
}

}  // namespace
}  // namespace heed
