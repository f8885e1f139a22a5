#include "heed/kernels/packed/cpu.h"

#include <gtest/gtest.h>

#include "tests/kernels/packed/packed_trial.h"

namespace heed::kernels {
namespace {

TEST(PackedCpu, DotProductsCanBeTurnedOffAndOnAgain) {
  heed::test::for_each_isa([](Isa) {
    const bool vnni = has_vnni(), bf16 = has_bf16_dot();
    {
      const test::DotGuard off(false);
      EXPECT_FALSE(has_vnni());
      EXPECT_FALSE(has_bf16_dot());
    }
    EXPECT_EQ(has_vnni(), vnni);
    EXPECT_EQ(has_bf16_dot(), bf16);
  });
}

TEST(PackedCpu, BothAnswersAreThoseOfTheFunctions) {
  test::for_each_way([](const std::string& way) {
    EXPECT_EQ(dot_products().bytes, has_vnni()) << way;
    EXPECT_EQ(dot_products().bf16, has_bf16_dot()) << way;
  });
}

TEST(PackedCpu, OnlyWideInstructionSetsOfX86HaveDotProducts) {
  heed::test::for_each_isa([](Isa isa) {
    if (isa == Isa::sse4 || isa == Isa::neon) {
      EXPECT_FALSE(has_vnni()) << name_of(isa);
    }
    if (isa != Isa::avx512) {
      EXPECT_FALSE(has_bf16_dot()) << name_of(isa);
    }
  });
}

}  // namespace
}  // namespace heed::kernels
