#include "heed/base/signal_block.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <csignal>

namespace heed {
namespace {

volatile std::sig_atomic_t caught = 0;

bool blocked(int signal) {
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, nullptr, &now);
  return sigismember(&now, signal) == 1;
}

TEST(SignalBlock, SignalsWaitForTheOutermostBlock) {
  caught = 0;
  struct sigaction count = {}, before = {};
  count.sa_handler = [](int) { caught = caught + 1; };
  sigaction(SIGUSR1, &count, &before);
  {
    const SignalBlock outer;
    {
      const SignalBlock inner;
      pthread_kill(pthread_self(), SIGUSR1);
      EXPECT_EQ(caught, 0);
    }
    EXPECT_EQ(caught, 0);
  }
  EXPECT_EQ(caught, 1);
  sigaction(SIGUSR1, &before, nullptr);
}

TEST(SignalBlock, RestoresWhatWasBlockedBefore) {
  sigset_t some, before;
  sigemptyset(&some);
  sigaddset(&some, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &some, &before);
  { const SignalBlock block; }
  EXPECT_TRUE(blocked(SIGUSR2));
  EXPECT_FALSE(blocked(SIGUSR1));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(SignalBlock, LeavesTheSignalsOfFaults) {
  const SignalBlock block;
  EXPECT_FALSE(blocked(SIGSEGV));
  EXPECT_TRUE(blocked(SIGINT));
}

}  // namespace
}  // namespace heed
