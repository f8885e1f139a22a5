// Training gives the same bits on every run and for any number of threads.
#include <gtest/gtest.h>

#include <vector>

#include "heed/base/threads.h"
#include "heed/nn/conv.h"
#include "heed/nn/embedding.h"
#include "heed/nn/feed_forward.h"
#include "heed/nn/norm.h"
#include "heed/nn/rnn.h"
#include "heed/ops/cross_entropy.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/training/clip.h"
#include "heed/training/ema.h"
#include "heed/training/optimizer.h"
#include "heed/training/schedule.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

constexpr std::int64_t kBatch = 48, kTime = 17, kVocabulary = 101, kSize = 66;

// A part of every kind, in sizes that the thread pool finds worth splitting.
struct Everything : Module {
  explicit Everything(Generator& g)
      : tokens({.vocabulary = kVocabulary, .size = kSize, .padding = 0}, g),
        recurrent({.input = kSize, .hidden = kSize / 2, .bidirectional = true}, g),
        memory({.input = kSize, .hidden = kSize}, g),
        neighbours({.in = kSize, .out = kSize, .kernel = 3, .padding = 1}, g),
        norm({.size = kSize}),
        feed_forward({.size = kSize, .hidden = 257, .activation = Activation::gelu, .dropout = 0.1},
                     g),
        scores({.in = kSize, .out = kVocabulary}, g) {}

  Embedding tokens;
  Gru recurrent;
  Lstm memory;
  Conv1d neighbours;
  LayerNorm norm;
  FeedForward feed_forward;
  Linear scores;

  void visit(ParameterVisitor& v) override {
    v("tokens", tokens);
    v("recurrent", recurrent);
    v("memory", memory);
    v("neighbours", neighbours);
    v("norm", norm);
    v("feed_forward", feed_forward);
    v("scores", scores);
  }
  Tensor operator()(const Tensor& ids, const Tensor& lengths) const {
    Tensor x = recurrent(tokens(ids), {.lengths = lengths}).output;          // [B, T, E]
    x = x + memory(x, {.lengths = lengths}).output;                          // [B, T, E]
    x = x + transpose(neighbours(transpose(x, 1, 2)), 1, 2);                 // [B, T, E]
    const NormResidual normed = norm(feed_forward(norm(x)), contiguous(x));  // [B, T, E]
    return scores(normed.y);                                                 // [B, T, V]
  }
};

Tensor draw_ids(RandomStream stream, const Shape& shape, std::uint32_t low, std::uint32_t high) {
  Tensor ids = empty(shape, DType::i64);
  std::uint64_t i = 0;
  for (std::int64_t& id : ids.mutable_values<std::int64_t>()) {
    id = low + stream.below(i++, high - low);
  }
  return ids;
}

// Losses, gradient norms, parameters and averages after a few updates.
std::vector<Tensor> train(std::uint64_t seed, int threads) {
  const int before = num_threads();
  set_num_threads(threads);
  Generator generator(seed);
  default_generator() = Generator(seed + 1);  // dropout
  Everything net(generator);
  AdamW optimizer(net.named_parameters(), {.weight_decay = 0.01});
  Ema ema(net.named_parameters(), {.decay = 0.9});
  const ScheduleConfig schedule{.kind = Schedule::noam, .warmup = 4, .model_size = kSize};
  std::vector<Tensor> seen;
  for (std::int64_t update = 1; update <= 4; ++update) {
    const RandomStream stream = generator.next();
    const Tensor ids = draw_ids(stream, {kBatch, kTime}, 0, kVocabulary);
    const Tensor targets = draw_ids(generator.next(), {kBatch, kTime}, 0, kVocabulary);
    const Tensor lengths = draw_ids(generator.next(), {kBatch}, 1, kTime + 1);
    const Tensor loss =
        cross_entropy(net(ids, lengths), targets, {.label_smoothing = 0.1, .ignore_index = 0});
    loss.backward();
    const ClippedGradient gradient = clip(optimizer.parameters(), 0.5);
    optimizer.step({.rate = rate(schedule, update), .gradient_scale = gradient.scale});
    optimizer.zero_grad();
    ema.update();
    seen.push_back(loss.detach());
    seen.push_back(scalar(gradient.norm, DType::f64));
  }
  for (const Tensor& parameter : net.parameters()) seen.push_back(parameter.detach());
  for (const NamedTensor& average : ema.averages()) seen.push_back(average.tensor);
  set_num_threads(before);
  return seen;
}

bool same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  bool same = a.size() == b.size();
  for (std::size_t i = 0; same && i < a.size(); ++i) same = test::same_bits(a[i], b[i]);
  return same;
}

TEST(Determinism, ThreadsAndRunsChangeNoBits) {
  const std::vector<Tensor> one = train(1, 1);
  EXPECT_TRUE(same_bits(train(1, 1), one)) << "a second run";
  EXPECT_TRUE(same_bits(train(1, 2), one)) << "two threads";
  EXPECT_TRUE(same_bits(train(1, 3), one)) << "three threads";
  EXPECT_TRUE(same_bits(train(1, 3), one)) << "three threads, a second run";
  EXPECT_FALSE(same_bits(train(2, 1), one)) << "another seed must show";
}

}  // namespace
}  // namespace heed
