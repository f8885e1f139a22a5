// Gradients of whole batches: sums over them, and no trace of an update that did not happen.
#include "heed/training/gradient_source.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/random.h"
#include "tests/training/toy_job.h"

namespace heed::gradient_source_test {
namespace {

using test::ToyJob;

constexpr auto finish = [](FunctionRef<void()> work) {
  work();
  return true;
};

TEST(WholeBatches, AddUp) {
  ToyJob job, other;
  Sgd optimizer(job.network.named_parameters());
  WholeBatches batches(job, optimizer, 2);
  default_generator() = Generator(1);
  const auto sums = batches.compute(1, finish);
  ASSERT_TRUE(sums);
  EXPECT_EQ(sums->counted, 2 * ToyJob::kRows);
  default_generator() = Generator(1);
  const double first = other.next().sum.item();
  EXPECT_DOUBLE_EQ(sums->loss, first + other.next().sum.item());
  EXPECT_GT(batches.norm(), 0.0);
  EXPECT_EQ(job.position(), (StreamPosition{0, 2}));
}

TEST(WholeBatches, LeaveNoTraceIfTheyAreInterruptedOrDropped) {
  ToyJob job(true);
  Sgd optimizer(job.network.named_parameters());
  WholeBatches batches(job, optimizer, 2);
  const auto before = job.network.norm->running_mean.to_vector<float>();
  const Generator::State random = default_generator().state();
  const auto interrupted = [](FunctionRef<void()> work) {
    work();
    return false;
  };
  EXPECT_FALSE(batches.compute(1, interrupted));
  EXPECT_EQ(job.position(), StreamPosition{});
  EXPECT_EQ(default_generator().state(), random);
  EXPECT_EQ(job.network.norm->running_mean.to_vector<float>(), before);
  EXPECT_FALSE(job.network.hidden.bias.grad().defined());
  EXPECT_TRUE(batches.compute(1, finish));
  EXPECT_NE(job.network.norm->running_mean.to_vector<float>(), before);
  batches.drop();
  EXPECT_EQ(job.network.norm->running_mean.to_vector<float>(), before);
}

}  // namespace
}  // namespace heed::gradient_source_test
