#include "heed/attention/layer.h"

#include <gtest/gtest.h>

#include "heed/attention/attention.h"
#include "heed/attention/masks/mask_fn.h"
#include "heed/attention/stages/observers.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

// A layer that can only be called.
class Plain : public AttentionLayer {
 public:
  void visit(ParameterVisitor&) override {}
  Tensor operator()(const AttentionInput& in) const override { return in.x; }
};

class NoState : public DecodeState {
 public:
  void reorder(std::span<const std::int64_t>) override {}
};

TEST(AttentionLayer, OneWithoutAStateSaysSo) {
  const Plain layer;
  const std::string message =
      "[attention] this layer has no state to decode with: call it on whole sequences";
  EXPECT_EQ(error_message([&] { layer.start({}); }), message);
  NoState state;
  EXPECT_EQ(error_message([&] { layer.step(ones({1, 1, 1}), state); }), message);
}

TEST(AttentionInput, TheSourceIsTheInputUnlessThereIsAMemory) {
  const Tensor x = ones({1, 2, 3}), memory = ones({1, 4, 3});
  EXPECT_EQ((AttentionInput{.x = x}).source().size(1), 2);
  EXPECT_EQ((AttentionInput{.x = x, .memory = memory}).source().size(1), 4);
}

TEST(CheckInput, SaysWhoComplainsAndWhatIsWrong) {
  const Tensor x = ones({2, 3, 4}), memory = ones({2, 5, 6});
  const auto message = [](const AttentionInput& in) {
    return error_message([&] { check_input("soft", in, 4, in.memory.defined() ? 6 : 4); });
  };
  EXPECT_EQ(message({.x = x}), "(no error)");
  EXPECT_EQ(message({.x = x, .memory = memory}), "(no error)");
  EXPECT_EQ(message({.x = {}}), "[soft] x is undefined: it must be [B, T, 4]");
  EXPECT_EQ(message({.x = ones({3, 4})}), "[soft] x is [3, 4]: it must be [B, T, 4]");
  EXPECT_EQ(message({.x = ones({2, 3, 5})}), "[soft] x is [2, 3, 5]: it must be [B, T, 4]");
  EXPECT_EQ(message({.x = x, .memory = ones({1, 5, 6})}),
            "[soft] memory is [1, 5, 6]: it must be [2, Tk, 6]");
  EXPECT_EQ(message({.x = x, .memory = ones({2, 5, 4})}),
            "[soft] memory is [2, 5, 4]: it must be [2, Tk, 6]");
}

TEST(CheckInput, LengthsMustFit) {
  const Tensor x = ones({2, 3, 4});
  const auto message = [&](const Tensor& lengths) {
    return error_message([&] { check_input("soft", {.x = x, .lengths = lengths}, 4, 4); });
  };
  EXPECT_EQ(message(from_values<std::int64_t>({0, 3}, {2})), "(no error)");
  EXPECT_EQ(message(ones({2})),
            "[soft] lengths are f32 [2]: they must be i64 [2], one for each sequence");
  EXPECT_EQ(message(from_values<std::int64_t>({1}, {1})),
            "[soft] lengths are i64 [1]: they must be i64 [2], one for each sequence");
  EXPECT_EQ(message(from_values<std::int64_t>({1, 4}, {2})),
            "[soft] a length is 4: sequences have 0 to 3 positions");
  EXPECT_EQ(message(from_values<std::int64_t>({-1, 2}, {2})),
            "[soft] a length is -1: sequences have 0 to 3 positions");
}

// The keys that queries attend to, as ones: equal scores, weights that are not 0.
std::vector<int> seen(const AttentionInput& in, std::int64_t B, Corner corner = Corner::top_left) {
  Tensor weights;
  const Tensor q = zeros({B, 1, 2, 1}), k = zeros({B, 1, 3, 1});
  attention(q, k, k, {.mask = mask_of(in, corner), .observers = {observe_weights(weights)}});
  std::vector<int> ones;
  for (const float w : weights.to_vector<float>()) ones.push_back(w > 0.0f ? 1 : 0);
  return ones;
}

TEST(MaskOf, NothingIsHiddenUnlessAsked) { EXPECT_TRUE(mask_of({}).everything()); }

TEST(MaskOf, LengthsCausalAndMaskTogether) {
  const Tensor lengths = from_values<std::int64_t>({1, 3}, {2});
  EXPECT_EQ(seen({.x = {}, .lengths = lengths}, 2),
            (std::vector<int>{1, 0, 0, 1, 0, 0, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(seen({.x = {}, .causal = true}, 1), (std::vector<int>{1, 0, 0, 1, 1, 0}));
  EXPECT_EQ(seen({.x = {}, .causal = true}, 1, Corner::bottom_right),
            (std::vector<int>{1, 1, 0, 1, 1, 1}));
  const Mask not_first = mask_fn([](int, int, int, int j) { return j > 0; });
  EXPECT_EQ(seen({.x = {}, .mask = not_first}, 1), (std::vector<int>{0, 1, 1, 0, 1, 1}));
  EXPECT_EQ(seen({.x = {}, .lengths = lengths, .causal = true, .mask = not_first}, 2),
            (std::vector<int>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0}));
}

TEST(SplitHeads, AHeadIsARunOfFeatures) {
  const Tensor x = from_values<float>({0, 1, 2, 3, 10, 11, 12, 13}, {1, 2, 4});
  const Tensor heads = split_heads(x, 2);
  EXPECT_EQ(heads.shape(), (Shape{1, 2, 2, 2}));
  EXPECT_EQ(heads.to_vector<float>(), (std::vector<float>{0, 1, 10, 11, 2, 3, 12, 13}));
  EXPECT_EQ(heads.data<float>(), x.data<float>()) << "no copy";
}

TEST(JoinHeads, UndoesTheSplit) {
  const Tensor x = randn({2, 3, 6});
  const Tensor back = join_heads(split_heads(x, 3));
  EXPECT_TRUE(test::same_bits(back, x));
  EXPECT_EQ(back.data<float>(), x.data<float>()) << "no copy";
  EXPECT_EQ(join_heads(split_heads(zeros({2, 0, 6}), 3)).shape(), (Shape{2, 0, 6}));
}

}  // namespace
}  // namespace heed
