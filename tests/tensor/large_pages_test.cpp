#include "heed/tensor/large_pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace heed {
namespace {

using Block = std::shared_ptr<std::byte>;

// Whether the address belongs to a mapping of this process.
bool is_mapped(std::uintptr_t address) {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line)) {
    std::size_t dash = 0;
    const std::uintptr_t begin = std::stoull(line, &dash, 16);
    const std::uintptr_t end = std::stoull(line.substr(dash + 1), nullptr, 16);
    if (begin <= address && address < end) return true;
  }
  return false;
}

TEST(LargePages, BlocksAreAlignedAndApart) {
  std::vector<Block> blocks;
  std::vector<std::size_t> sizes;
  for (const std::size_t bytes :
       {1, 63, 64, 65, 4096, 3 << 20, 20 << 20, 40 << 20, 100, 31 << 20}) {
    blocks.push_back(large_page_block(bytes));
    sizes.push_back(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(blocks.back().get()) % 64, 0u) << bytes;
    std::memset(blocks.back().get(), static_cast<int>(blocks.size()), bytes);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto expected = static_cast<std::byte>(i + 1);
    EXPECT_EQ(blocks[i].get()[0], expected) << sizes[i];
    EXPECT_EQ(blocks[i].get()[sizes[i] - 1], expected) << sizes[i];
  }
}

TEST(LargePages, SmallBlocksShareAChunk) {
  const Block first = large_page_block(1000), second = large_page_block(1000);
  EXPECT_EQ(second.get() - first.get(), 1024);
}

TEST(LargePages, AChunkIsGivenBackWithItsLastBlock) {
  Block first = large_page_block(1000), second = large_page_block(1000);
  const auto address = reinterpret_cast<std::uintptr_t>(first.get());
  first.reset();
  EXPECT_TRUE(is_mapped(address));
  second.reset();
  EXPECT_FALSE(is_mapped(address));
}

TEST(LargePages, BlocksOfSeveralThreadsAreApart) {
  std::vector<std::vector<Block>> blocks(4);
  std::vector<std::thread> threads;
  for (std::vector<Block>& of_thread : blocks) {
    threads.emplace_back([&of_thread] {
      for (int i = 0; i < 200; ++i) of_thread.push_back(large_page_block(64 * 1024));
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<const std::byte*> places;
  for (const std::vector<Block>& of_thread : blocks) {
    for (const Block& block : of_thread) places.insert(block.get());
  }
  EXPECT_EQ(places.size(), 800u);
  const auto overlap = [](const std::byte* a, const std::byte* b) { return b - a < 64 * 1024; };
  EXPECT_EQ(std::ranges::adjacent_find(places, overlap), places.end());
}

TEST(LargePages, ABlockOutlivesItsThread) {
  Block block;
  std::thread([&] { block = large_page_block(1000); }).join();
  std::memset(block.get(), 1, 1000);
  EXPECT_EQ(block.get()[999], std::byte{1});
}

}  // namespace
}  // namespace heed
