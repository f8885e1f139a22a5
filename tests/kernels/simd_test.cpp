// Kernels run on the instruction set that heed/base/isa.h names, and the tails of arrays stay
// inside them.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/kernels/simd_test.cpp"
#include "heed/kernels/foreach_target.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "heed/base/dtype.h"
#include "heed/kernels/simd.h"
#include "tests/support/isa_guard.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

std::int64_t target_here() { return HWY_TARGET; }
std::size_t float_lanes() { return hn::Lanes(hn::ScalableTag<float>()); }

// Copies n elements by tails alone; arrays of exactly n elements let the address sanitizer look.
template <typename T>
void copy_by_tails(const T* from, T* to, std::size_t n) {
  const hn::ScalableTag<T> d;
  const std::size_t step = hn::Lanes(d) > 1 ? hn::Lanes(d) - 1 : 1;
  for (std::size_t i = 0; i < n; i += step) {
    const std::size_t count = std::min(step, n - i);
    const auto v = LoadFirst(d, from + i, count);
    HWY_ALIGN T lanes[HWY_MAX_BYTES / sizeof(T)];
    hn::Store(v, d, lanes);
    for (std::size_t j = count; j < hn::Lanes(d); ++j) EXPECT_EQ(lanes[j], T{});
    StoreFirst(v, d, to + i, count);
  }
}

void copy_floats(const float* from, float* to, std::size_t n) { copy_by_tails(from, to, n); }
void copy_doubles(const double* from, double* to, std::size_t n) { copy_by_tails(from, to, n); }
void copy_words(const std::int32_t* from, std::int32_t* to, std::size_t n) {
  copy_by_tails(from, to, n);
}
void copy_halves(const std::uint16_t* from, std::uint16_t* to, std::size_t n) {
  copy_by_tails(from, to, n);
}
void copy_bytes(const std::uint8_t* from, std::uint8_t* to, std::size_t n) {
  copy_by_tails(from, to, n);
}

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(target_here);
HWY_EXPORT(float_lanes);
HWY_EXPORT(copy_floats);
HWY_EXPORT(copy_doubles);
HWY_EXPORT(copy_words);
HWY_EXPORT(copy_halves);
HWY_EXPORT(copy_bytes);

namespace {

template <typename T>
void expect_tails_copy(void (*copy)(const T*, T*, std::size_t)) {
  for (std::size_t n = 0; n < 200; ++n) {
    std::vector<T> from(n + 1), to(n + 1, T{77});
    std::iota(from.begin(), from.end(), T{1});
    copy(from.data(), to.data(), n);
    EXPECT_EQ(to.back(), T{77}) << "wrote past " << n << " elements";
    from.pop_back(), to.pop_back();
    EXPECT_EQ(from, to);
    from.shrink_to_fit(), to.shrink_to_fit();
    copy(from.data(), to.data(), n);  // nothing after the arrays to read or write
  }
}

TEST(Simd, DispatchObeysTheInstructionSet) {
  test::for_each_isa([](Isa isa) {
    const std::int64_t target = HEED_DISPATCH(target_here)();
    const std::size_t lanes = HEED_DISPATCH(float_lanes)();
    switch (isa) {
      case Isa::sse4:
        EXPECT_EQ(target, HWY_SSE4);
        EXPECT_EQ(lanes, 4u);
        break;
      case Isa::avx2:
        EXPECT_EQ(target, HWY_AVX2);
        EXPECT_EQ(lanes, 8u);
        break;
      case Isa::avx512:
        EXPECT_EQ(target, HWY_AVX3);
        EXPECT_EQ(lanes, 16u);
        break;
      case Isa::neon:
        EXPECT_EQ(target, HWY_NEON);
        EXPECT_EQ(lanes, 4u);
        break;
    }
  });
}

TEST(Simd, OnlyTheNamedSetsAreCompiled) {
#ifdef HEED_WITHOUT_AVX512  // sanitizers: one set alone
  EXPECT_EQ(HWY_TARGETS, HWY_AVX2);
#elif HWY_ARCH_X86
  EXPECT_EQ(HWY_TARGETS, HWY_SSE4 | HWY_AVX2 | HWY_AVX3);
#endif
}

TEST(Simd, TailsStayInsideTheArray) {
  test::for_each_isa([](Isa) {
    expect_tails_copy<float>(HEED_DISPATCH(copy_floats));
    expect_tails_copy<double>(HEED_DISPATCH(copy_doubles));
    expect_tails_copy<std::int32_t>(HEED_DISPATCH(copy_words));
    expect_tails_copy<std::uint16_t>(HEED_DISPATCH(copy_halves));
    expect_tails_copy<std::uint8_t>(HEED_DISPATCH(copy_bytes));
  });
}

}  // namespace
}  // namespace heed::kernels
#endif  // HWY_ONCE
