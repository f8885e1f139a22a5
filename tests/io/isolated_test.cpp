#include "heed/io/isolated.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "tests/support/error_message.h"
#include "tests/support/sanitized.h"

#ifndef __SANITIZE_THREAD__  // the thread sanitizer refuses threads in a forked child

namespace heed::io {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Isolated, GivesTheResult) {
  EXPECT_EQ(run_isolated("[t] it", [] { return std::string("a\0b", 3); }), std::string("a\0b", 3));
  EXPECT_EQ(run_isolated("[t] it", [] { return std::string(); }), "");
  EXPECT_EQ(run_isolated("[t] it", [] { return std::string(5 << 20, 'x'); }).size(),
            std::size_t{5} << 20);
}

TEST(Isolated, LeavesTheProcessAsItIs) {
  int changed = 0;
  const pid_t here = ::getpid();
  const std::string there = run_isolated("[t] it", [&] {
    changed = 1;
    return fmt::format("{}", ::getpid());
  });
  EXPECT_EQ(changed, 0);
  EXPECT_NE(there, fmt::format("{}", here));
}

TEST(Isolated, ErrorsComeThrough) {
  const auto run = [](auto work) { return run_isolated("[t] it", work); };
  EXPECT_EQ(error_message([&] { run([]() -> std::string { fail("[x] {} is wrong", 7); }); }),
            "[x] 7 is wrong");
  EXPECT_THROW(run([]() -> std::string { throw std::bad_alloc(); }), std::bad_alloc);
  const auto no_thread = std::make_error_code(std::errc::resource_unavailable_try_again);
  EXPECT_EQ(
      error_message([&] { run([&]() -> std::string { throw std::system_error(no_thread); }); }),
      "[t] it failed: Resource temporarily unavailable");
  EXPECT_THROW(run([]() -> std::string { throw std::out_of_range("far"); }), std::runtime_error);
}

TEST(Isolated, TheEndOfTheChildIsAnError) {
  const auto message = [](void (*end)()) {
    return error_message([&] {
      run_isolated("[t] the work", [&] {
        end();
        return std::string("not reached");
      });
    });
  };
  EXPECT_THAT(message([] { std::exit(0); }), HasSubstr("[t] the work ended without an answer"));
  EXPECT_THAT(message([] {
                std::fprintf(stderr, "file.cc(7): no \n");
                std::exit(3);
              }),
              HasSubstr("without an answer: file.cc(7): no"));
  EXPECT_THAT(message([] { std::abort(); }), AllOf(HasSubstr("signal 6"), HasSubstr("Aborted")));
  EXPECT_THAT(message([] { ::raise(SIGKILL); }), HasSubstr("signal 9"));
}

// The output that the parent has not written yet would be written by both.
TEST(Isolated, ExitDoesNotFlushStreamsOfTheParent) {
  std::FILE* const file = std::tmpfile();
  std::fputs("once", file);
  error_message([&] { run_isolated("[t] it", []() -> std::string { std::exit(0); }); });
  std::fflush(file);
  EXPECT_EQ(std::ftell(file), 4);
  std::fseek(file, 0, SEEK_END);
  EXPECT_EQ(std::ftell(file), 4);
  std::fclose(file);
}

TEST(Isolated, ThreadsInTheChildAndAroundIt) {
  if (test::has_address_sanitizer()) {
    GTEST_SKIP() << "its allocator may stay locked in a child of a process with threads";
  }
  std::vector<std::thread> threads;
  std::vector<std::string> results(6);
  for (std::size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back([&results, i] {
      results[i] = run_isolated("[t] it", [i] {
        std::string made;
        std::thread([&] { made = fmt::format("result {}", i); }).join();
        return made;
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(results[i], fmt::format("result {}", i));
  }
}

TEST(Isolated, WorksWhereChildrenAreReapedByTheSystem) {
  const auto before = ::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(run_isolated("[t] it", [] { return std::string("done"); }), "done");
  EXPECT_THAT(error_message([] { run_isolated("[t] it", []() -> std::string { std::exit(3); }); }),
              HasSubstr("without an answer"));
  ::signal(SIGCHLD, before);
}

}  // namespace
}  // namespace heed::io

#endif
