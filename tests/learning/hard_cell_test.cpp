// Hard attention, taught by REINFORCE, finds the one cell that matters (Xu et al. 2015, Show,
// Attend and Tell). A picture is 36 cells, each with a colour and a digit; the digit that is asked
// for stands in the only cell of the first colour. No gradient goes through the choice of a cell:
// where to look is learned from rewards alone.
#include <gtest/gtest.h>

#include "heed/attention/reinforce.h"
#include "heed/attention/variants/hard.h"
#include "heed/nn/embedding.h"
#include "heed/ops/cross_entropy.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/index.h"
#include "heed/ops/order.h"
#include "tests/learning/learn.h"

namespace heed::test::hard_cell_test {
namespace {

constexpr std::int64_t kCells = 36, kColours = 8, kDigits = 10, kFeatures = 32, kBatch = 64;

struct Picture {
  Tensor colours, digits;  // i64 [B, kCells]
  Tensor marked;           // i64 [B, 1]: the cell of colour 0
  Tensor answer;           // i64 [B]: its digit
};

Picture make_picture(std::int64_t batch, Generator& generator) {
  Picture picture;
  picture.marked = random_ids({batch, 1}, 0, kCells, generator);
  picture.colours = where(equal(arange(kCells), picture.marked), zeros({1}, DType::i64),
                          random_ids({batch, kCells}, 1, kColours, generator));
  picture.digits = random_ids({batch, kCells}, 0, kDigits, generator);
  picture.answer = squeeze(gather(picture.digits, 1, picture.marked), 1);
  return picture;
}

struct Looker : Module {
  Embedding colours{{.vocabulary = kColours, .size = kFeatures}};
  Embedding digits{{.vocabulary = kDigits, .size = kFeatures}};
  Tensor question = zeros({kFeatures}).requires_grad();
  HardAttentionLayer hard{{.global = {.embed = kFeatures, .score = AlignScore::additive}}};
  Linear out{{.in = kFeatures, .out = kDigits}};

  void visit(ParameterVisitor& visitor) override {
    visitor("colours", colours);
    visitor("digits", digits);
    visitor("question", question);
    visitor("hard", hard);
    visitor("out", out);
  }

  AttentionInput asked(const Picture& picture) const {
    const std::int64_t B = picture.colours.size(0);
    return {.x = expand(question, {B, 1, kFeatures}),                      // [B, 1, E]
            .memory = colours(picture.colours) + digits(picture.digits)};  // [B, cells, E]
  }
  // What is said of the cell that was looked at, [B, 1, E]: [B, kDigits].
  Tensor say(const Tensor& seen) const { return out(squeeze(seen, 1)); }
};

TEST(Learning, HardCell) {
  default_generator() = Generator(1);
  Looker looker;
  Reinforce reinforce({.entropy = 0.01});
  Generator data(2);
  learn(looker, {.updates = 1500, .rate = 3e-3}, [&](int) {
    const Picture picture = make_picture(kBatch, data);
    const HardDraw drawn = looker.hard.draw(looker.asked(picture));
    const Tensor loss = cross_entropy(looker.say(drawn.output), picture.answer,
                                      {.reduction = Reduction::none});  // [B]
    return mean(loss) + reinforce.loss(drawn.log_prob, -loss, drawn.entropy);
  });

  looker.eval();
  const NoGrad off;
  const Picture picture = make_picture(2000, data);
  const AttentionInput in = looker.asked(picture);
  const HardDraw drawn = looker.hard.draw(in);
  const double found = share_equal(drawn.index, picture.marked);
  const double drawn_right = share_equal(argmax(looker.say(drawn.output), 1), picture.answer);
  const double right = share_equal(argmax(looker.say(looker.hard(in)), 1), picture.answer);
  fmt::print(
      "hard_cell: the marked cell of {} drawn {:.3f}, digits right {:.3f}, with the likeliest cell "
      "{:.3f}\n",
      kCells, found, drawn_right, right);
  EXPECT_GE(found, 0.95);
  EXPECT_GE(drawn_right, 0.95);
  EXPECT_GE(right, 0.98);
}

}  // namespace
}  // namespace heed::test::hard_cell_test
