// Philox in vectors gives the words of heed::philox on every instruction set, at any block.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/kernels/philox_test.cpp"
#include "heed/kernels/foreach_target.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "heed/kernels/philox-inl.h"
#include "tests/support/isa_guard.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

// Writes the words of a vector of blocks, at most 32, and returns how many there are.
std::size_t words_of(RandomStream random, std::uint64_t first_block, std::uint32_t* words) {
  philox_blocks(random, hn::Iota(U64(), first_block), words);
  return 4 * hn::Lanes(U64());
}

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(words_of);

namespace {

TEST(Philox, VectorsGiveTheScalarWords) {
  const RandomStream streams[] = {{}, {1, 2}, {0x0123456789abcdef, 0xfedcba9876543210}};
  // The last of these crosses into the upper half of the counter.
  const std::uint64_t blocks[] = {0, 1, 1000, 0x123456789abcdef0, 0xffffffff};
  test::for_each_isa([&](Isa isa) {
    for (const RandomStream& random : streams) {
      for (const std::uint64_t block : blocks) {
        HWY_ALIGN std::uint32_t words[32];
        const std::size_t count = HEED_DISPATCH(words_of)(random, block, words);
        for (std::size_t i = 0; i < count; ++i) {
          EXPECT_EQ(words[i], random.bits(4 * block + i))
              << name_of(isa) << ", block " << block << ", word " << i;
        }
      }
    }
  });
}

}  // namespace
}  // namespace heed::kernels
#endif  // HWY_ONCE
