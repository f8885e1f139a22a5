#include "heed/generation/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

class WithThreads : public testing::TestWithParam<int> {
 protected:
  WithThreads() : before_(num_threads()) { set_num_threads(GetParam()); }
  ~WithThreads() override { set_num_threads(before_); }

 private:
  int before_;
};
INSTANTIATE_TEST_SUITE_P(Workers, WithThreads, testing::Values(1, 3));

TEST_P(WithThreads, EachBatchRunsOnce) {
  for (const std::int64_t batches : {0, 1, 2, 20}) {
    std::vector<std::atomic<int>> runs(static_cast<std::size_t>(batches));
    std::atomic<int> steps = 0;
    run_batches(
        batches, [&] { ++steps; },
        [&](std::int64_t batch, const OnStep& on_step) {
          ++runs[static_cast<std::size_t>(batch)];
          on_step();
        });
    for (const auto& count : runs) EXPECT_EQ(count, 1);
    EXPECT_GE(steps, batches);
  }
}

TEST_P(WithThreads, ABatchWithoutStepsIsFine) {
  int runs = 0;
  run_batches(1, {}, [&](std::int64_t, const OnStep& on_step) {
    ++runs;
    EXPECT_FALSE(on_step);
  });
  EXPECT_EQ(runs, 1);
}

TEST_P(WithThreads, AFailureEndsTheOthersAndIsTheError) {
  std::atomic<int> ended = 0;
  const std::string message = error_message([&] {
    run_batches(6, {}, [&](std::int64_t batch, const OnStep& on_step) {
      if (batch == 1) throw Error("the second batch is bad");
      // The others would go on for ever.
      try {
        while (batch > 0) on_step();
      } catch (const Interrupted&) {
        ++ended;
        throw;
      }
    });
  });
  EXPECT_EQ(message, "the second batch is bad");
  EXPECT_LE(ended, 5);
}

}  // namespace
}  // namespace heed
