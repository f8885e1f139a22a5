// Reversible layers compared with the same layers on the tape: values, gradients, inputs computed
// back, and memory.
#include "heed/nn/reversible.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "heed/autograd/checkpoint.h"
#include "heed/autograd/gradcheck.h"
#include "heed/autograd/tape.h"
#include "heed/base/arena.h"
#include "heed/base/threads.h"
#include "heed/nn/linear.h"
#include "heed/ops/dropout.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"
#include "heed/ops/norm.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::reversible_test {
namespace {

using test::max_relative_error;
using test::same_bits;

// What a part of the network does between its two matrices.
enum class Inside : std::uint8_t { smooth, dropped, exact };

// Parts x -> h(x W) U, each with matrices of its own.
struct Net {
  std::vector<Tensor> weights;
  std::vector<ReversibleLayer> layers;

  Net(int depth, std::int64_t E, Inside inside, DType dtype = DType::f32) {
    Generator generator(7);
    for (int i = 0; i < depth; ++i) {
      layers.push_back(
          reversible(part(E, inside, dtype, generator), part(E, inside, dtype, generator)));
    }
  }

  ReversiblePart part(std::int64_t E, Inside inside, DType dtype, Generator& generator) {
    const double deviation = 0.5 / std::sqrt(static_cast<double>(E));
    Tensor w = normal({E, 2 * E}, 0.0, deviation, generator, dtype);
    Tensor u = normal({2 * E, E}, 0.0, deviation, generator, dtype);
    if (inside == Inside::exact) {
      // One element in four is 1 or -1, so that sums of small integers stay exact.
      for (Tensor* const x : {&w, &u}) {
        for (std::int64_t n = 0; n < x->numel(); ++n) {
          float& value = x->mutable_data<float>()[n];
          value = n % 4 != 0 ? 0.0f : value < 0.0f ? -1.0f : 1.0f;
        }
      }
    }
    weights.push_back(w.requires_grad());
    weights.push_back(u.requires_grad());
    return [w, u, inside](const Tensor& x) {
      if (inside == Inside::exact) return matmul(relu(matmul(x, w)), u);
      const Tensor h = gelu(matmul(rms_norm(x, {}), w));
      return matmul(inside == Inside::dropped ? dropout(h, 0.3) : h, u);
    };
  }
};

// Values and gradients of one run, all in one list.
using Way = Streams (*)(std::span<const ReversibleLayer>, const Streams&);
std::vector<Tensor> results(Way run, int depth, Inside inside) {
  Net net(depth, 12, inside);
  default_generator() = Generator(5);
  Generator generator(3);
  Tensor a = normal({4, 6, 12}, 0.0, 1.0, generator), b = normal({4, 6, 12}, 0.0, 1.0, generator);
  if (inside == Inside::exact) {
    for (Tensor* const x : {&a, &b}) {
      for (std::int64_t n = 0; n < x->numel(); ++n) {
        float& value = x->mutable_data<float>()[n];
        value = std::round(2.0f * value);
      }
    }
  }
  a.requires_grad(), b.requires_grad();
  const Streams y = run(net.layers, {a, b});
  sum(y.x1 + 2.0 * y.x2).backward();
  std::vector<Tensor> all = {y.x1.detach(), y.x2.detach(), a.grad(), b.grad()};
  for (const Tensor& w : net.weights) all.push_back(w.grad());
  return all;
}

TEST(Reversible, GradientsAreThoseOfThePlainStack) {
  for (const Inside inside : {Inside::smooth, Inside::dropped}) {
    const std::vector<Tensor> plain = results(run_plain, 6, inside);
    const std::vector<Tensor> again = results(run_reversible, 6, inside);
    EXPECT_TRUE(same_bits(again[0], plain[0]) && same_bits(again[1], plain[1]));
    for (std::size_t i = 2; i < plain.size(); ++i) {
      EXPECT_LT(max_relative_error(again[i], plain[i]), 1e-5) << i;
    }
  }
}

TEST(Reversible, SumsWithoutRoundingGiveTheSameBits) {
  const std::vector<Tensor> plain = results(run_plain, 3, Inside::exact);
  const std::vector<Tensor> again = results(run_reversible, 3, Inside::exact);
  EXPECT_GT(max(abs(plain[4])).item(), 0.0);
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_TRUE(same_bits(again[i], plain[i])) << i;
}

TEST(Reversible, GradientsInDouble) {
  Net net(3, 4, Inside::smooth, DType::f64);
  Generator generator(4);
  std::vector<Tensor> inputs = {normal({3, 4}, 0, 1, generator, DType::f64).requires_grad(),
                                normal({3, 4}, 0, 1, generator, DType::f64).requires_grad()};
  for (const Tensor& w : net.weights) inputs.push_back(w);
  const auto f = [&](std::span<const Tensor> in) {
    const Streams y = run_reversible(net.layers, {in[0], in[1]});
    return y.x1 * y.x2;
  };
  const GradCheckResult result = gradcheck(f, inputs);
  EXPECT_TRUE(result.ok) << result.message;
}

// The first layer's input is what all 24 layers have to be undone for.
TEST(Reversible, InputsComeBackOverTwentyFourLayers) {
  Net net(24, 64, Inside::smooth);
  const auto seen = std::make_shared<std::vector<Tensor>>();
  net.layers[0].f = [f = net.layers[0].f, seen](const Tensor& x) {
    seen->push_back(x.detach());
    return f(x);
  };
  Generator generator(8);
  Tensor x = normal({2, 50, 64}, 0.0, 1.0, generator).requires_grad();
  const Streams y = run_reversible(net.layers, {x, x});
  sum(square(y.x1) + y.x2).backward();
  ASSERT_EQ(seen->size(), 2u);
  const double error = max(abs((*seen)[1] - (*seen)[0])).item();
  RecordProperty("largest_error", std::to_string(error));
  EXPECT_LT(error, 1e-4);  // of numbers up to 4
  EXPECT_GT(error, 0.0);   // the layers were undone: rounding leaves a trace
}

std::size_t peak_of(Way run, int depth) {
  const int threads = num_threads();
  set_num_threads(1);  // how many workers hold their workspace at once is a matter of chance
  Net net(depth, 32, Inside::smooth);
  Generator generator(9);
  Tensor x = normal({8, 64, 32}, 0.0, 1.0, generator).requires_grad();
  arena::reset_peak();
  const std::size_t before = arena::stats().bytes_live;
  const Streams y = run(net.layers, {x, x});
  sum(y.x1 * y.x2).backward();
  set_num_threads(threads);
  return arena::stats().bytes_peak - before;
}

TEST(Reversible, MemoryDoesNotDependOnDepth) {
  // What grows are the gradients of the weights, 64 KB for a layer.
  const std::size_t two = peak_of(run_reversible, 2), twenty = peak_of(run_reversible, 20);
  EXPECT_LT(twenty, two + 18 * 80'000);
  EXPECT_GT(peak_of(run_plain, 20), 4 * twenty);
}

// Some rows at a time: the same values, and memory for these rows only.
TEST(Reversible, PartsOfRowsInPieces) {
  const auto run = [](Way how, std::int64_t rows) {
    Net net(3, 12, Inside::dropped);
    for (ReversibleLayer& layer : net.layers) layer.g_rows = rows;
    default_generator() = Generator(6);
    Generator generator(3);
    Tensor x = normal({4, 6, 12}, 0.0, 1.0, generator).requires_grad();
    const Streams y = how(net.layers, {x, x});
    sum(y.x1 + square(y.x2)).backward();
    std::vector<Tensor> all = {y.x1.detach(), y.x2.detach(), x.grad()};
    for (const Tensor& w : net.weights) all.push_back(w.grad());
    return all;
  };
  for (const std::int64_t rows : {1, 5, 24, 100}) {
    const std::vector<Tensor> plain = run(run_plain, rows), again = run(run_reversible, rows);
    EXPECT_TRUE(same_bits(again[0], plain[0]) && same_bits(again[1], plain[1])) << rows;
    for (std::size_t i = 2; i < plain.size(); ++i) {
      EXPECT_LT(max_relative_error(again[i], plain[i]), 1e-5) << rows << " rows, " << i;
    }
  }
  EXPECT_TRUE(same_bits(run(run_reversible, 0)[1], run(run_reversible, 24)[1]));
  const auto peak = [](std::int64_t rows) {
    Generator generator(9);
    const Tensor w = normal({16, 512}, 0.0, 0.1, generator);
    Tensor x = normal({1024, 16}, 0.0, 1.0, generator).requires_grad();
    const auto wide = [&](const Tensor& y) { return matmul(gelu(matmul(y, w)), transpose(w)); };
    const ReversibleLayer layer = reversible([](const Tensor& y) { return relu(y); }, wide, rows);
    arena::reset_peak();
    const std::size_t before = arena::stats().bytes_live;
    sum(run_reversible({&layer, 1}, {x, x}).x2).backward();
    return arena::stats().bytes_peak - before;
  };
  EXPECT_GT(peak(0), 4 * peak(64));
}

TEST(Reversible, WorksWithCheckpoints) {
  const auto run = [](bool checkpointed) {
    Net net(2, 12, Inside::dropped);
    default_generator() = Generator(6);
    if (checkpointed) {
      net.layers[1].g = [g = net.layers[1].g](const Tensor& x) {
        return checkpoint([g](std::span<const Tensor> in) { return g(in[0]); }, {&x, 1});
      };
    }
    Generator generator(3);
    Tensor x = normal({5, 12}, 0.0, 1.0, generator).requires_grad();
    const auto stack = [layers = net.layers](std::span<const Tensor> in) {
      const Streams y = run_reversible(layers, {in[0], in[0]});
      return y.x1 + y.x2;
    };
    const Tensor y = checkpointed ? checkpoint(stack, {&x, 1}) : stack({&x, 1});
    sum(square(y)).backward();
    return std::vector<Tensor>{y.detach(), x.grad(), net.weights[0].grad(), net.weights[7].grad()};
  };
  const std::vector<Tensor> plain = run(false), again = run(true);
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_TRUE(same_bits(again[i], plain[i])) << i;
}

TEST(Reversible, WithoutTrackedInputsTheParametersStillLearn) {
  Net net(2, 12, Inside::smooth);
  const Tensor x = ones({3, 12});
  sum(run_reversible(net.layers, {x, x}).x2).backward();
  for (const Tensor& w : net.weights) EXPECT_TRUE(w.grad().defined());
}

TEST(Reversible, OneUsedStreamIsEnough) {
  Net net(2, 12, Inside::smooth);
  Generator generator(3);
  Tensor x = normal({3, 12}, 0.0, 1.0, generator).requires_grad();
  Tensor z = x.detach();
  z.requires_grad();
  sum(run_reversible(net.layers, {x, x}).x1).backward();
  sum(run_plain(net.layers, {z, z}).x1).backward();
  EXPECT_LT(max_relative_error(x.grad(), z.grad()), 1e-5);
}

// Steps of which every third reads a memory: an odd number of parts for each layer.
struct MemoryNet {
  Net net;
  std::vector<ReversibleStep> steps;

  MemoryNet(int depth, std::int64_t E, Inside inside, DType dtype = DType::f32)
      : net(0, E, inside, dtype) {
    Generator generator(7);
    for (int i = 0; i < 3 * depth; ++i) {
      const ReversiblePart part = net.part(E, inside, dtype, generator);
      const bool reads = i % 3 == 1;
      steps.push_back({.part =
                           [part, reads](const Tensor& x, const Tensor& memory) {
                             if (!reads) return part(x);
                             return part(x * mean(memory, {0}) + gelu(memory));
                           },
                       .rows = i % 3 == 2 ? 5 : 0});
    }
  }
};

using StepWay = Streams (*)(std::span<const ReversibleStep>, const Streams&, const Tensor&);

// Values and gradients, with a memory that is the output of a part whose calls are counted.
std::vector<Tensor> memory_results(StepWay run, Inside inside, int* backward_passes = nullptr) {
  MemoryNet all(3, 12, inside);
  Generator generator(3);
  Tensor x = normal({4, 6, 12}, 0.0, 1.0, generator).requires_grad();
  Tensor source = normal({4, 6, 12}, 0.0, 1.0, generator).requires_grad();
  default_generator() = Generator(5);
  const Tensor squared = square(source);
  const Tensor memory = record("memory", {squared}, squared.detach(), [=](Backward& b) {
    if (backward_passes != nullptr) ++*backward_passes;
    b.add(0, b.dy());
  });
  const Streams y = run(all.steps, {x, 0.5 * x}, memory);
  sum(y.x1 + 2.0 * y.x2 + memory).backward();
  std::vector<Tensor> results = {y.x1.detach(), y.x2.detach(), x.grad(), source.grad()};
  for (const Tensor& w : all.net.weights) results.push_back(w.grad());
  return results;
}

TEST(Reversible, AMemoryGetsTheGradientsOfAllSteps) {
  for (const Inside inside : {Inside::smooth, Inside::dropped}) {
    const std::vector<Tensor> plain = memory_results(run_plain, inside);
    int backward_passes = 0;
    const std::vector<Tensor> again = memory_results(run_reversible, inside, &backward_passes);
    EXPECT_EQ(backward_passes, 1);
    EXPECT_TRUE(same_bits(again[0], plain[0]) && same_bits(again[1], plain[1]));
    for (std::size_t i = 2; i < plain.size(); ++i) {
      EXPECT_LT(max_relative_error(again[i], plain[i]), 1e-5) << i;
    }
  }
}

TEST(Reversible, GradientsOfAMemoryInDouble) {
  MemoryNet all(2, 4, Inside::smooth, DType::f64);
  Generator generator(4);
  std::vector<Tensor> inputs;
  for (int i = 0; i < 3; ++i) {
    inputs.push_back(normal({3, 4}, 0, 1, generator, DType::f64).requires_grad());
  }
  for (const Tensor& w : all.net.weights) inputs.push_back(w);
  const auto f = [&](std::span<const Tensor> in) {
    const Streams y = run_reversible(all.steps, {in[0], in[1]}, tanh(in[2]));
    return y.x1 * y.x2;
  };
  const GradCheckResult result = gradcheck(f, inputs);
  EXPECT_TRUE(result.ok) << result.message;
}

// Frozen streams or a frozen memory: the rest still learns.
TEST(Reversible, AMemoryOrTheStreamsMayBeUntracked) {
  for (const bool tracked : {false, true}) {
    const auto run = [tracked](StepWay how) {
      MemoryNet all(2, 12, Inside::smooth);
      Generator generator(3);
      Tensor x = normal({6, 12}, 0.0, 1.0, generator), m = normal({6, 12}, 0.0, 1.0, generator);
      Tensor& input = tracked ? m : x;
      input.requires_grad();
      sum(how(all.steps, {x, x}, m).x2).backward();
      return std::vector<Tensor>{input.grad(), all.net.weights[0].grad()};
    };
    const std::vector<Tensor> plain = run(run_plain), again = run(run_reversible);
    for (std::size_t i = 0; i < 2; ++i) EXPECT_LT(max_relative_error(again[i], plain[i]), 1e-5);
  }
}

TEST(Reversible, StepsWithoutMemoryAreTheLayers) {
  Net net(3, 12, Inside::smooth);
  std::vector<ReversibleStep> steps;
  for (const ReversibleLayer& layer : net.layers) {
    for (const ReversiblePart& part : {layer.f, layer.g}) {
      steps.push_back({.part = [part](const Tensor& x, const Tensor&) { return part(x); }});
    }
  }
  Generator generator(3);
  Tensor x = normal({3, 12}, 0.0, 1.0, generator).requires_grad();
  sum(run_reversible(net.layers, {x, x}).x2).backward();
  const Tensor expected = x.grad();
  x.set_grad({});
  sum(run_reversible(steps, {x, x}, {}).x2).backward();
  EXPECT_TRUE(same_bits(x.grad(), expected));
}

TEST(Reversible, WrongUseSaysWhatIsWrong) {
  const std::vector<ReversibleLayer> layers = {
      reversible([](const Tensor& x) { return x; }, [](const Tensor& x) { return sum(x, {0}); })};
  Tensor x = ones({3, 4}).requires_grad();
  EXPECT_EQ(error_message([&] {
              run_reversible(layers, {x, ones({3, 5})});
            }),
            "[reversible] streams [3, 4] and [3, 5]: both must have the same shape and type");
  EXPECT_EQ(error_message([&] {
              run_reversible(layers, {x, x});
            }),
            "[reversible] a part turned [3, 4] into [4]: it must keep the shape, since the two "
            "streams are added");
}

}  // namespace
}  // namespace heed::reversible_test
