#include "heed/kernels/packed/cpu.h"

#include <gtest/gtest.h>

#include "tests/kernels/packed/packed_trial.h"

namespace heed::kernels {
namespace {

TEST(PackedCpu, VnniCanBeTurnedOffAndOnAgain) {
  heed::test::for_each_isa([](Isa) {
    const bool before = has_vnni();
    {
      const test::VnniGuard off(false);
      EXPECT_FALSE(has_vnni());
    }
    EXPECT_EQ(has_vnni(), before);
  });
}

TEST(PackedCpu, OnlyWideInstructionSetsOfX86HaveVnni) {
  heed::test::for_each_isa([](Isa isa) {
    if (isa == Isa::sse4 || isa == Isa::neon) {
      EXPECT_FALSE(has_vnni()) << name_of(isa);
    }
  });
}

}  // namespace
}  // namespace heed::kernels
