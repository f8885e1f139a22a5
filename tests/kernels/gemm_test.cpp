#include "heed/kernels/gemm.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <ucontext.h>

#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

#include "heed/base/random.h"
#include "heed/kernels/reference/gemm.h"

namespace heed::kernels {
namespace {

std::vector<float> numbers(std::int64_t n, std::uint64_t stream) {
  std::vector<float> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = RandomStream{5, stream}.normal(i);
  return x;
}

std::vector<double> widened(const std::vector<float>& x) { return {x.begin(), x.end()}; }

TEST(Gemm, EqualsItsTwinInEveryLayout) {
  for (const auto& [m, n, k] : std::initializer_list<std::array<std::int64_t, 3>>{{1, 1, 1},
                                                                                  {7, 17, 5},
                                                                                  {63, 65, 31},
                                                                                  {16, 1, 300},
                                                                                  {1, 16, 300},
                                                                                  {64, 256, 256},
                                                                                  {5, 3, 0}}) {
    const auto a = numbers(m * k, 0), b = numbers(k * n, 1), c = numbers(m * n, 2);
    const auto a64 = widened(a), b64 = widened(b), c64 = widened(c);
    for (int layout = 0; layout < 8; ++layout) {
      const bool ta = layout & 1, tb = layout & 2;
      const float beta = layout & 4 ? 1.0f : 0.0f;
      const std::int64_t ra = ta ? 1 : k, ca = ta ? m : 1, rb = tb ? 1 : n, cb = tb ? k : 1;
      std::vector<float> actual = c;
      std::vector<double> expected = c64;
      gemm(GemmCall<float>{.shape = {m, n, k},
                           .a = {a.data(), ra, ca},
                           .b = {b.data(), rb, cb},
                           .c = actual.data(),
                           .ldc = n,
                           .beta = beta});
      reference::gemm({m, n, k}, {a64.data(), ra, ca}, {b64.data(), rb, cb}, beta, expected.data(),
                      n);
      for (std::size_t i = 0; i < actual.size(); ++i) {
        ASSERT_NEAR(actual[i], expected[i], 1e-4)
            << m << "x" << n << "x" << k << " layout " << layout << " at " << i;
      }
    }
  }
}

TEST(Gemm, TheEpilogueAddsBiasAndKeepsWhatWasBeforeTheActivation) {
  const std::int64_t m = 100, n = 130, k = 90;
  const auto a = numbers(m * k, 0), b = numbers(k * n, 1), bias = numbers(n, 2);
  std::vector<float> plain(static_cast<std::size_t>(m * n)), y = plain, before = plain;
  GemmCall<float> call{.shape = {m, n, k},
                       .a = {a.data(), k, 1},
                       .b = {b.data(), n, 1},
                       .c = plain.data(),
                       .ldc = n};
  gemm(call);
  call.c = y.data();
  call.epilogue = {
      .bias = bias.data(), .activate = true, .activation = Unary::relu, .before = before.data()};
  gemm(call);
  for (std::size_t i = 0; i < y.size(); ++i) {
    ASSERT_EQ(before[i], plain[i] + bias[i % static_cast<std::size_t>(n)]);
    ASSERT_EQ(y[i], std::max(before[i], 0.0f));
  }
}

TEST(Gemm, KnowsWhichStridesItCanRead) {
  EXPECT_TRUE(gemm_reads(3, 4, 4, 1));
  EXPECT_TRUE(gemm_reads(3, 4, 1, 3));
  EXPECT_TRUE(gemm_reads(3, 4, 100, 1));
  EXPECT_FALSE(gemm_reads(3, 4, 8, 2));
  EXPECT_FALSE(gemm_reads(3, 4, 0, 1));  // a stretched row
  EXPECT_FALSE(gemm_reads(3, 4, 1, 0));
  EXPECT_TRUE(gemm_reads(1, 4, 0, 1));
}

#ifdef __x86_64__
// What the handler of the next test finds. It has a stack of its own, so it does no harm where the
// interrupted code has put something else into the stack pointer.
std::uintptr_t stack_begin, stack_end;
std::atomic<int> signals{0}, elsewhere{0};
std::atomic<bool> running{false};

void find_stack_pointer(int, siginfo_t*, void* context) {
  const auto pointer = static_cast<std::uintptr_t>(
      static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP]);
  if (pointer < stack_begin || pointer >= stack_end) ++elsewhere;
  ++signals;
}

void run_products_until(const std::atomic<bool>& end) {
  pthread_attr_t attributes;
  void* begin = nullptr;
  std::size_t size = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &begin, &size);
  pthread_attr_destroy(&attributes);
  stack_begin = reinterpret_cast<std::uintptr_t>(begin);
  stack_end = stack_begin + size;
  std::vector<std::byte> room(1 << 16);
  const stack_t own{.ss_sp = room.data(), .ss_flags = 0, .ss_size = room.size()};
  stack_t previous;
  sigaltstack(&own, &previous);
  const std::int64_t m = 64, n = 96, k = 600;
  const auto a = numbers(m * k, 0), b = numbers(k * n, 1);
  std::vector<float> c(static_cast<std::size_t>(m * n));
  const auto run = [&] {
    gemm_serial({m, n, k}, {a.data(), 1, m}, {b.data(), n, 1}, 0.0f, c.data(), n);
  };
  run();  // oneDNN makes its kernels
  running = true;
  while (!end) run();
  sigaltstack(&previous, nullptr);
}

TEST(Gemm, SignalHandlersRunOnTheStackOfTheThread) {
  signals = elsewhere = 0;
  struct sigaction find = {}, before = {};
  find.sa_sigaction = find_stack_pointer;
  find.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigaction(SIGUSR2, &find, &before);
  std::atomic<bool> end{false};
  std::thread worker([&] { run_products_until(end); });
  while (!running) std::this_thread::yield();
  for (int sent = 1; sent <= 300; ++sent) {
    pthread_kill(worker.native_handle(), SIGUSR2);
    while (signals < sent) std::this_thread::yield();
  }
  end = true;
  worker.join();
  sigaction(SIGUSR2, &before, nullptr);
  EXPECT_EQ(elsewhere, 0);
}
#endif

}  // namespace
}  // namespace heed::kernels
