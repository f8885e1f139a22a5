// A pointer network sorts ten numbers (Vinyals et al. 2015, section 4): it reads them in any order
// and points at them from the smallest to the largest.
#include <gtest/gtest.h>

#include "heed/attention/variants/pointer.h"
#include "heed/nn/rnn.h"
#include "heed/ops/cross_entropy.h"
#include "heed/ops/index.h"
#include "heed/ops/join.h"
#include "heed/ops/order.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "tests/learning/learn.h"

namespace heed::test::pointer_sort_test {
namespace {

constexpr std::int64_t kNumbers = 10, kBatch = 128, kFeatures = 64;

struct Sorter : Module {
  Linear in{{.in = 1, .out = kFeatures}};
  Lstm encoder{{.input = kFeatures, .hidden = kFeatures}};
  Lstm decoder{{.input = kFeatures, .hidden = kFeatures}};
  Pointer pointer{{.embed = kFeatures}};

  void visit(ParameterVisitor& visitor) override {
    visitor("in", in);
    visitor("encoder", encoder);
    visitor("decoder", decoder);
    visitor("pointer", pointer);
  }

  // Numbers [B, n], and the order [B, n] that a teacher gives -> log-probabilities [B, n, n].
  Tensor operator()(const Tensor& numbers, const Tensor& order) const {
    const RecurrentResult read = encoder(in(unsqueeze(numbers, 2)));
    const Tensor sorted = gather(numbers, 1, order);  // [B, n]
    const Tensor before = in(unsqueeze(sorted, 2));   // [B, n, E]
    const Tensor start = zeros({numbers.size(0), 1, kFeatures});
    const Tensor x = concat({start, slice(before, 1, 0, -1)}, 1);  // [B, n, E]
    const RecurrentResult states = decoder(x, {.state = read.state, .cell = read.cell});
    return pointer.log_probs({.x = states.output, .memory = read.output});  // [B, n, n]
  }

  // The order [B, n] it finds alone.
  Tensor sort(const Tensor& numbers) const {
    const RecurrentResult read = encoder(in(unsqueeze(numbers, 2)));
    Tensor x = zeros({numbers.size(0), 1, kFeatures});
    RecurrentStart at{.state = read.state, .cell = read.cell};
    std::vector<Tensor> chosen;
    for (std::int64_t i = 0; i < kNumbers; ++i) {
      const RecurrentResult now = decoder(x, at);
      const Tensor p = pointer({.x = now.output, .memory = read.output});  // [B, 1, n]
      chosen.push_back(argmax(p, 2));                                      // [B, 1]
      x = in(unsqueeze(gather(numbers, 1, chosen.back()), 2));             // [B, 1, E]
      at = {.state = now.state, .cell = now.cell};
    }
    return concat(chosen, 1);  // [B, n]
  }
};

TEST(Learning, PointerSort) {
  default_generator() = Generator(1);
  Sorter sorter;
  Generator numbers(2);
  learn(sorter, {.updates = 8000, .rate = 3e-3}, [&](int) {
    const Tensor x = uniform({kBatch, kNumbers}, 0.0, 1.0, numbers);
    const Tensor order = argsort(x, 1);
    const Tensor log_probs = sorter(x, order);
    return cross_entropy(reshape(log_probs, {-1, kNumbers}), reshape(order, {-1}));
  });
  const NoGrad off;
  const Tensor x = uniform({1000, kNumbers}, 0.0, 1.0, numbers);
  const Tensor right = cast(equal(sorter.sort(x), argsort(x, 1)), DType::f32);  // [1000, n]
  const double places = mean(right).item(), whole = mean(min(right, {1})).item();
  fmt::print("pointer_sort: {:.1f} % of places, {:.1f} % of sequences of {} sorted\n",
             100.0 * places, 100.0 * whole, kNumbers);
  EXPECT_GE(places, 0.97);
  EXPECT_GE(whole, 0.85);
}

}  // namespace
}  // namespace heed::test::pointer_sort_test
