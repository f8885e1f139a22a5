// Attention forward and backward in steady state: no malloc, no new block of the arena, whatever
// stages a call has.
#include "heed/attention/attention.h"

#include <gtest/gtest.h>

#include "heed/attention/masks.h"
#include "heed/attention/stages.h"
#include "heed/autograd/tape.h"
#include "heed/base/arena.h"
#include "heed/base/threads.h"
#include "heed/tensor/create.h"
#include "tests/allocation/count_allocations.h"

namespace heed {
namespace {

void expect_no_allocations(const AttentionSpec& spec, const char* name) {
  Tensor q = randn({2, 4, 70, 16}), k = randn({2, 2, 90, 16}), v = randn({2, 2, 90, 8});
  for (Tensor* const x : {&q, &k, &v}) x->requires_grad();
  const Tensor dy = randn({2, 4, 70, 8});
  const auto step = [&] {
    backward(attention(q, k, v, spec), dy);
    for (Tensor* const x : {&q, &k, &v}) x->set_grad({});
  };
  for (int i = 0; i < 3; ++i) step();
  const std::uint64_t heap = test::allocations();
  const std::uint64_t blocks = arena::stats().system_allocations;
  for (int i = 0; i < 5; ++i) step();
  EXPECT_EQ(test::allocations() - heap, 0u) << name << ": calls of malloc";
  EXPECT_EQ(arena::stats().system_allocations - blocks, 0u) << name << ": blocks of the arena";
}

// On one thread: how many cells' scratch memory lives at once is chance on several.
TEST(AttentionAllocations, NoneInSteadyState) {
  const int threads = num_threads();
  set_num_threads(1);
  expect_no_allocations({}, "plain");
  expect_no_allocations({.mask = causal() & key_lengths({90, 41})}, "masks");
  expect_no_allocations({.mask = boolean_mask(ones({70, 90}, DType::boolean))}, "boolean mask");
  Tensor slopes = alibi_slopes(4), table = randn({9, 16});
  slopes.requires_grad();
  table.requires_grad();
  expect_no_allocations({.modifiers = {alibi(slopes), shaw_keys(table), soft_cap(30.0)},
                         .normaliser = softmax_with_sink(zeros({4})),
                         .reweights = {weight_dropout(0.1, 3)}},
                        "stages");
  expect_no_allocations({.modifiers = {dense_bias(randn({4, 70, 90}))}}, "dense bias");
  set_num_threads(threads);
}

}  // namespace
}  // namespace heed
