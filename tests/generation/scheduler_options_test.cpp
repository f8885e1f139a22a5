#include "heed/generation/scheduler_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/base/threads.h"
#include "heed/io/config.h"
#include "tests/support/error_message.h"

namespace heed::scheduler_options_test {
namespace {

using testing::HasSubstr;

TEST(SchedulerOptions, WorkersAreAtLeastOneAndAtMostThreads) {
  const int before = num_threads();
  set_num_threads(2);
  EXPECT_NO_THROW(SchedulerOptions{}.validate());
  EXPECT_NO_THROW(SchedulerOptions{.workers = 2}.validate());
  EXPECT_THAT(error_message([] { SchedulerOptions{.workers = 0}.validate(); }),
              HasSubstr("workers"));
  EXPECT_THAT(error_message([] { SchedulerOptions{.workers = 10000}.validate(); }),
              HasSubstr("workers"));
  EXPECT_EQ(error_message([] { SchedulerOptions{.workers = 3}.validate(); }),
            "[scheduler] 3 workers and 2 threads: give at most one worker for each thread");
  set_num_threads(before);
}

TEST(SchedulerOptions, AreFields) {
  SchedulerOptions options;
  io::set_fields(options, {"workers=1", "cache_megabytes=7"});
  EXPECT_EQ(options.workers, 1);
  EXPECT_EQ(options.cache_megabytes, 7);
  EXPECT_THAT(error_message([&] { io::set_fields(options, {"cache_megabytes=0"}); }),
              HasSubstr("cache_megabytes"));
}

TEST(SchedulerOptions, NothingIsEmpty) {
  for (const SchedulerOptions& options :
       {SchedulerOptions{.batch_sentences = 0}, SchedulerOptions{.batch_tokens = 0},
        SchedulerOptions{.queue = 0}}) {
    EXPECT_THAT(error_message([&] { options.validate(); }), HasSubstr("at least 1"));
  }
}

}  // namespace
}  // namespace heed::scheduler_options_test
