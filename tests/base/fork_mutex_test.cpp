// Forks while another thread holds a lock or is inside a loop: the child can take the lock.
#include "heed/base/fork_mutex.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>

#include "heed/base/arena.h"
#include "heed/base/isa.h"
#include "heed/base/threads.h"

#ifndef __SANITIZE_THREAD__  // the thread sanitizer does not support locks in a forked child

namespace heed {
namespace {

// Runs `busy` again and again in a thread, forks, and runs `work` in each child. A child that hangs
// is ended by its alarm.
void fork_meanwhile(int forks, const std::function<void()>& busy,
                    const std::function<void()>& work) {
  std::atomic<bool> stop = false;
  std::thread other([&] {
    while (!stop.load()) busy();
  });
  int failed = 0;
  for (int i = 0; i < forks && failed == 0; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      work();
      _exit(0);
    }
    int status = -1;
    if (waitpid(child, &status, 0) != child || status != 0) ++failed;
  }
  stop = true;
  other.join();
  EXPECT_EQ(failed, 0) << "a child hung or failed";
}

void use_arena() { const Scratch<float> scratch(1000); }

TEST(ForkMutex, AChildTakesWhatAnotherThreadHeld) {
  auto* const mutex = new ForkMutex;  // never destroyed
  const auto hold = [&] { const std::lock_guard lock(*mutex); };
  fork_meanwhile(300, hold, hold);
}

TEST(ForkMutex, AChildUsesTheArena) { fork_meanwhile(300, use_arena, use_arena); }

TEST(ForkMutex, AChildUsesTheInstructionSet) {
  const auto choose = [] { set_isa(current_isa()); };
  fork_meanwhile(100, choose, choose);
}

// The fork waits for the loop before it takes the arena's lock, which the cells of the loop need.
TEST(ForkMutex, AForkDuringALoopThatAllocates) {
  const int before = num_threads();
  set_num_threads(3);
  const auto loop = [] { parallel_for(64, 1 << 16, [](std::int64_t) { use_arena(); }); };
  fork_meanwhile(100, loop, use_arena);
  set_num_threads(before);
}

}  // namespace
}  // namespace heed

#endif
