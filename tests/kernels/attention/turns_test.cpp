#include "heed/kernels/attention/turns.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace heed::kernels {
namespace {

TEST(Turns, CellsComeInOrderAtEachPlace) {
  constexpr std::int64_t kCells = 4, kPlaces = 50;
  Turns turns(kPlaces);
  std::vector<std::vector<std::int64_t>> visitors(kPlaces);
  std::vector<std::thread> threads;
  for (std::int64_t cell = kCells; cell-- > 0;) {  // the last one starts first and must wait
    threads.emplace_back([&, cell] {
      for (std::int64_t place = 0; place < kPlaces; ++place) {
        turns.wait(place, cell);
        visitors[static_cast<std::size_t>(place)].push_back(cell);
        turns.pass(place, cell);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& order : visitors) EXPECT_EQ(order, (std::vector<std::int64_t>{0, 1, 2, 3}));
}

TEST(Turns, NobodyWaitsForACellThatFailed) {
  Turns turns(1);
  std::thread waiting([&] { turns.wait(0, 5); });
  turns.abandon();
  waiting.join();
}

}  // namespace
}  // namespace heed::kernels
