#include "heed/io/retry.h"

#include <gtest/gtest.h>

namespace heed::io {
namespace {

// A call that fails with an error a few times before it succeeds.
struct Call {
  int failures;
  int error;
  mutable int calls = 0;

  int operator()() const {
    if (calls++ >= failures) return 7;
    errno = error;
    return -1;
  }
};

TEST(Retry, MakesInterruptedCallsAgain) {
  const Call never{0, 0}, interrupted{3, EINTR};
  EXPECT_EQ(retry(never), 7);
  EXPECT_EQ(never.calls, 1);
  EXPECT_EQ(retry(interrupted), 7);
  EXPECT_EQ(interrupted.calls, 4);
}

TEST(Retry, LeavesOtherErrorsToTheCaller) {
  const Call full{3, ENOSPC};
  EXPECT_EQ(retry(full), -1);
  EXPECT_EQ(errno, ENOSPC);
  EXPECT_EQ(full.calls, 1);
}

}  // namespace
}  // namespace heed::io
