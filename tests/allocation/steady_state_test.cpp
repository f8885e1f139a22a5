// A training step in steady state asks nothing of the system: no malloc by any thread, no new block
// of the arena.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "heed/base/arena.h"
#include "heed/base/threads.h"
#include "heed/nn/dropout.h"
#include "heed/nn/embedding.h"
#include "heed/nn/linear.h"
#include "heed/nn/norm.h"
#include "heed/nn/rnn.h"
#include "heed/ops/cross_entropy.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "heed/training/clip.h"
#include "heed/training/ema.h"
#include "heed/training/optimizer.h"
#include "heed/training/schedule.h"
#include "tests/allocation/count_allocations.h"

namespace heed {
namespace {

TEST(Allocations, AreCounted) {
  // Through volatile pointers, or the compiler leaves out what is freed at once.
  void* (*volatile allocate)(std::size_t) = ::operator new;
  void* (*volatile align)(std::size_t, std::size_t) = std::aligned_alloc;
  const std::uint64_t before = test::allocations();
  void* const first = allocate(8);
  void* const second = align(64, 64);
  const std::uint64_t after = test::allocations();
  EXPECT_EQ(after - before, 2u);
  ::operator delete(first);
  std::free(second);
}

// Runs a step three times to fill the caches, then counts.
template <typename Step>
void expect_no_allocations(const Step& step) {
  const int threads_before = num_threads();
  for (const int threads : {1, 2}) {
    set_num_threads(threads);
    std::int64_t update = 0;
    while (update < 3) step(++update);
    const std::uint64_t heap = test::allocations();
    const std::uint64_t blocks = arena::stats().system_allocations;
    while (update < 8) step(++update);
    EXPECT_EQ(test::allocations() - heap, 0u) << "calls of malloc, " << threads << " threads";
    EXPECT_EQ(arena::stats().system_allocations - blocks, 0u)
        << "new blocks of the arena, " << threads << " threads";
  }
  set_num_threads(threads_before);
}

// The training step of a network on one batch.
template <typename Forward>
class Trainer {
 public:
  Trainer(const Module& module, Forward forward, Tensor targets)
      : forward_(std::move(forward)),
        targets_(std::move(targets)),
        optimizer_(module.named_parameters(), {.weight_decay = 0.01}),
        ema_(module.named_parameters()) {}

  void step(std::int64_t update) {
    const Tensor loss = cross_entropy(forward_(), targets_, {.label_smoothing = 0.1});
    loss.backward();
    const ClippedGradient gradient = clip(optimizer_.parameters(), 1.0);
    optimizer_.step({.rate = rate(schedule_, update), .gradient_scale = gradient.scale});
    optimizer_.zero_grad();
    ema_.update();
    EXPECT_GT(loss.item(), 0.0);
  }

 private:
  Forward forward_;
  Tensor targets_;
  AdamW optimizer_;
  Ema ema_;
  ScheduleConfig schedule_{.kind = Schedule::cosine, .peak = 1e-3, .warmup = 2, .total = 100};
};

struct Mlp : Module {
  Linear first{{.in = 33, .out = 257, .activation = Activation::gelu}};
  LayerNorm norm{{.size = 257}};
  Dropout dropout{{.p = 0.1}};
  Linear scores{{.in = 257, .out = 10}};

  void visit(ParameterVisitor& v) override {
    v("first", first);
    v("norm", norm);
    v("dropout", dropout);
    v("scores", scores);
  }
  Tensor operator()(const Tensor& x) const { return scores(dropout(norm(first(x)))); }  // [B, 10]
};

TEST(SteadyState, MlpStepAllocatesNothing) {
  const Mlp net;
  const Tensor x = randn({129, 33});  // [B, 33]
  Trainer trainer(
      net, [&] { return net(x); }, zeros({129}, DType::i64));
  expect_no_allocations([&](std::int64_t update) { trainer.step(update); });
}

struct Reader : Module {
  Embedding tokens{{.vocabulary = 50, .size = 24}};
  Gru gru{{.input = 24, .hidden = 33, .layers = 2, .bidirectional = true, .dropout = 0.1}};
  Lstm lstm{{.input = 66, .hidden = 17}};
  Linear scores{{.in = 17, .out = 50}};

  void visit(ParameterVisitor& v) override {
    v("tokens", tokens);
    v("gru", gru);
    v("lstm", lstm);
    v("scores", scores);
  }
  Tensor operator()(const Tensor& ids, const Tensor& lengths) const {
    const Tensor both = gru(tokens(ids), {.lengths = lengths}).output;  // [B, T, 66]
    return scores(lstm(both).output);                                   // [B, T, 50]
  }
};

TEST(SteadyState, RecurrentStepAllocatesNothing) {
  const Reader net;
  const Tensor ids = zeros({13, 11}, DType::i64);      // [B, T]
  const Tensor lengths = full({13}, 7.0, DType::i64);  // [B]
  Trainer trainer(
      net, [&] { return net(ids, lengths); }, ids);
  expect_no_allocations([&](std::int64_t update) { trainer.step(update); });
}

}  // namespace
}  // namespace heed
