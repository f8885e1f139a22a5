// A neural Turing machine copies random bits and goes on to sequences twice as long as any it has
// seen (Graves, Wayne and Danihelka 2014, section 4.1); an LSTM of the same width, trained by the
// same number of updates, does not.
#include <gtest/gtest.h>

#include "heed/attention/variants/ntm.h"
#include "heed/nn/rnn.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/join.h"
#include "tests/learning/learn.h"

namespace heed::test::ntm_copy_test {
namespace {

constexpr std::int64_t kBits = 6, kInput = kBits + 2, kHidden = 64, kBatch = 16, kLongest = 8;

// Told the bits of `length` steps between two marks, then nothing, while it should say them.
struct Copy {
  Tensor told;  // [B, 2 length + 2, kInput]
  Tensor bits;  // [B, length, kBits]
};

Copy make_copy(std::int64_t batch, std::int64_t length, Generator& generator) {
  const Tensor bits = cast(random_ids({batch, length, kBits}, 0, 2, generator), DType::f32);
  const auto mark = [&](std::int64_t which) {
    return expand(concat({zeros({kBits + which}), ones({1}), zeros({1 - which})}, 0),
                  {batch, 1, kInput});
  };
  const Tensor read = concat({bits, zeros({batch, length, 2})}, 2);  // [B, length, kInput]
  const Tensor silence = zeros({batch, length, kInput});             // [B, length, kInput]
  return {concat({mark(0), read, mark(1), silence}, 1), bits};
}

struct Recurrence : Module {
  Lstm lstm{{.input = kInput, .hidden = kHidden}};
  Linear out{{.in = kHidden, .out = kInput}};

  void visit(ParameterVisitor& visitor) override {
    visitor("lstm", lstm);
    visitor("out", out);
  }
  Tensor operator()(const Tensor& x) const { return out(lstm(x).output); }  // [B, T, kInput]
};

struct Machine : Module {
  // A controller that remembers nothing itself must use the memory, and so finds what goes on.
  Ntm ntm{{.embed = kInput,
           .slots = 32,
           .width = 16,
           .controller = NtmController::feed_forward,
           .hidden = kHidden}};

  void visit(ParameterVisitor& visitor) override { visitor("ntm", ntm); }
  Tensor operator()(const Tensor& x) const { return ntm({.x = x}); }  // [B, T, kInput]
};

// The logits [B, length, kBits] of what is said after the second mark.
template <typename Model>
Tensor said(const Model& model, const Copy& copy) {
  const std::int64_t length = copy.bits.size(1);
  return slice(slice(model(copy.told), 1, length + 2, 2 * length + 2), 2, 0, kBits);
}

template <typename Model>
double bits_right(const Model& model, std::int64_t length) {
  const NoGrad off;
  Generator fresh(100);
  const Copy copy = make_copy(200, length, fresh);
  return share_equal(greater(said(model, copy), scalar(0.0)), greater(copy.bits, scalar(0.5)));
}

struct Scores {
  double trained, doubled;  // bits right at the longest length trained, and at twice that
};

template <typename Model>
Scores train_copier(int updates) {
  default_generator() = Generator(1);
  Model model;
  Generator data(2);
  learn(model, {.updates = updates, .rate = 3e-3}, [&](int) {
    const std::int64_t length = *random_ids({1}, 1, kLongest + 1, data).data<std::int64_t>();
    const Copy copy = make_copy(kBatch, length, data);
    const Tensor z = said(model, copy);        // [B, length, kBits]
    return mean(softplus(z) - z * copy.bits);  // binary cross entropy
  });
  return {bits_right(model, kLongest), bits_right(model, 2 * kLongest)};
}

TEST(Learning, NtmCopy) {
  constexpr int kUpdates = 5000;
  const Scores ntm = train_copier<Machine>(kUpdates);
  const Scores lstm = train_copier<Recurrence>(kUpdates);
  fmt::print("ntm_copy: bits right at length {}: NTM {:.3f}, LSTM {:.3f}; at {}: {:.3f}, {:.3f}\n",
             kLongest, ntm.trained, lstm.trained, 2 * kLongest, ntm.doubled, lstm.doubled);
  EXPECT_GE(ntm.trained, 0.99);
  EXPECT_GE(ntm.doubled, 0.95);
  EXPECT_GE(ntm.doubled, lstm.doubled + 0.2);
}

}  // namespace
}  // namespace heed::test::ntm_copy_test
