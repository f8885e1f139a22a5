#include "heed/autograd/graph.h"

#include <gtest/gtest.h>

#include <string_view>

#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

const auto every_op = [](const Node& node) { return !node.leaf(); };
const auto tanhs = [](const Node& node) { return node.name() == std::string_view("tanh"); };

TEST(Graph, AChainIsAsLongAsItIs) {
  Tensor x = ones({2}).requires_grad();
  Tensor y = x;
  for (int i = 0; i < 5; ++i) y = tanh(y);
  EXPECT_EQ(shortest_path(y, x, every_op), 5);
  EXPECT_EQ(longest_path(y, every_op), 5);
  EXPECT_EQ(shortest_path(x, x, every_op), 0);
}

TEST(Graph, TheShortestAndTheLongestWay) {
  Tensor x = ones({2}).requires_grad();
  const Tensor once = tanh(x);
  const Tensor thrice = tanh(tanh(once));
  const Tensor y = exp(thrice + once);  // x by one tanh, or by three
  EXPECT_EQ(shortest_path(y, x, tanhs), 1);
  EXPECT_EQ(longest_path(y, tanhs), 3);
  EXPECT_EQ(shortest_path(y, x, every_op), 3);
  EXPECT_EQ(longest_path(y, every_op), 5);
}

TEST(Graph, EachLeafHasItsOwnPath) {
  Tensor a = ones({2}).requires_grad(), b = ones({2}).requires_grad();
  Tensor stranger = ones({2}).requires_grad();
  const Tensor y = tanh(tanh(a) * b);
  EXPECT_EQ(shortest_path(y, a, tanhs), 2);
  EXPECT_EQ(shortest_path(y, b, tanhs), 1);
  EXPECT_EQ(shortest_path(y, stranger, tanhs), std::nullopt);
}

// 2^60 ways, one walk.
TEST(Graph, ManyWaysAreWalkedOnce) {
  Tensor x = ones({1}).requires_grad();
  Tensor y = x;
  for (int i = 0; i < 60; ++i) y = y + y;
  EXPECT_EQ(shortest_path(y, x, every_op), 60);
  EXPECT_EQ(longest_path(y, every_op), 60);
}

TEST(Graph, WhatHasNoGraphIsSaid) {
  Tensor x = ones({2}).requires_grad();
  const Tensor y = sum(tanh(x));
  EXPECT_NE(error_message([&] { longest_path(ones({2}), tanhs); }).find("not computed from"),
            std::string::npos);
  EXPECT_NE(error_message([&] { shortest_path(y, y, tanhs); }).find("must end at a leaf"),
            std::string::npos);
  y.backward();
  EXPECT_NE(error_message([&] { longest_path(y, tanhs); }).find("released the graph"),
            std::string::npos);
}

}  // namespace
}  // namespace heed
