#include "heed/autograd/node.h"

#include <gtest/gtest.h>

#include <memory>

#include "heed/autograd/tape.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

TEST(Node, HoldsItsClosureUntilFinished) {
  auto token = std::make_shared<int>(5);
  const Ref<Node> node = Node::make("test", 2, 3, [token](Backward&) {});
  EXPECT_EQ(token.use_count(), 2);
  EXPECT_EQ(node->edges().size(), 2u);
  EXPECT_EQ(node->slots().size(), 3u);
  EXPECT_STREQ(node->name(), "test");
  EXPECT_FALSE(node->leaf());
  node->finish();
  EXPECT_TRUE(node->finished());
  EXPECT_EQ(token.use_count(), 1);
}

TEST(Node, DestroysItsClosureOnceWhenNeverFinished) {
  auto token = std::make_shared<int>(5);
  {
    const Ref<Node> node = Node::make("test", 0, 1, [token](Backward&) {});
  }
  EXPECT_EQ(token.use_count(), 1);
}

TEST(Node, RunsItsClosure) {
  int calls = 0;
  const Ref<Node> node = Node::make("test", 0, 1, [&calls](Backward&) { ++calls; });
  Backward backward(*node);
  node->run(backward);
  EXPECT_EQ(calls, 1);
}

TEST(Node, NumbersRise) {
  const Ref<Node> first = Node::leaf({2}, DType::f32);
  const Ref<Node> second = Node::leaf({2}, DType::f32);
  EXPECT_LT(first->sequence(), second->sequence());
  EXPECT_TRUE(first->leaf());
}

}  // namespace
}  // namespace heed
