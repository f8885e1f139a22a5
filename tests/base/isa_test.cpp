// Which instruction set is in force, and who may change it. That kernels obey is tested in
// tests/kernels/simd_test.cpp.
#include "heed/base/isa.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "heed/base/error.h"
#include "tests/support/isa_guard.h"
#include "tests/support/sanitized.h"

namespace heed {
namespace {

TEST(IsaTest, HasNames) {
  EXPECT_EQ(name_of(Isa::sse4), "sse4");
  EXPECT_EQ(name_of(Isa::avx2), "avx2");
  EXPECT_EQ(name_of(Isa::avx512), "avx512");
  EXPECT_EQ(name_of(Isa::neon), "neon");
}

TEST(IsaTest, CurrentIsOneOfTheAvailable) {
  const std::vector<Isa> available = available_isas();
  ASSERT_FALSE(available.empty());
  EXPECT_NE(std::find(available.begin(), available.end(), current_isa()), available.end());
}

TEST(IsaTest, AgreesWithTheCompilersViewOfTheCpu) {
#ifdef __x86_64__
  __builtin_cpu_init();
  const std::vector<Isa> available = available_isas();
  const auto has = [&](Isa isa) {
    return std::find(available.begin(), available.end(), isa) != available.end();
  };
  if (test::is_sanitized() && available == std::vector{Isa::avx2}) {
    return;  // without HEED_THOROUGH, sanitizers have one set alone
  }
  EXPECT_EQ(has(Isa::sse4), __builtin_cpu_supports("sse4.2") != 0);
  EXPECT_EQ(has(Isa::avx2), __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
  EXPECT_EQ(has(Isa::avx512),
            __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                __builtin_cpu_supports("avx512vl"));
  EXPECT_FALSE(has(Isa::neon));
  EXPECT_TRUE(std::is_sorted(available.rbegin(), available.rend())) << "best first";
#endif
}

TEST(IsaTest, SetAndRestore) {
  const Isa before = current_isa();
  test::for_each_isa([](Isa isa) { EXPECT_EQ(current_isa(), isa); });
  EXPECT_EQ(current_isa(), before);
}

TEST(IsaTest, RefusesWhatCannotRun) {
  const Isa before = current_isa();
  const std::vector<Isa> available = available_isas();
  for (const Isa isa : {Isa::sse4, Isa::avx2, Isa::avx512, Isa::neon}) {
    if (std::find(available.begin(), available.end(), isa) == available.end()) {
      EXPECT_THROW(set_isa(isa), Error);
    }
  }
  EXPECT_EQ(current_isa(), before);
}

/// The state of a program that starts with HEED_ISA=value; the destructor goes back to before.
class FreshStart {
 public:
  explicit FreshStart(const std::string& value) {
    setenv("HEED_ISA", value.c_str(), 1);
    detail::isa_chosen.store(false);
  }
  ~FreshStart() {
    had_value_ ? setenv("HEED_ISA", value_.c_str(), 1) : unsetenv("HEED_ISA");
    set_isa(before_);
  }
  FreshStart(const FreshStart&) = delete;
  FreshStart& operator=(const FreshStart&) = delete;

 private:
  Isa before_ = current_isa();
  bool had_value_ = std::getenv("HEED_ISA") != nullptr;
  std::string value_ = had_value_ ? std::getenv("HEED_ISA") : "";
};

TEST(IsaTest, FirstUseReadsTheEnvironment) {
  for (const Isa isa : available_isas()) {
    const FreshStart start{std::string(name_of(isa))};
    EXPECT_EQ(current_isa(), isa);
  }
  const FreshStart start("");
  EXPECT_EQ(current_isa(), available_isas().front());
}

TEST(IsaTest, BadEnvironmentIsAnErrorThatNamesWhatWouldDo) {
  const FreshStart start("avx1024");
  try {
    current_isa();
    FAIL() << "nothing was thrown";
  } catch (const Error& e) {
    const std::string message = e.what();
    EXPECT_NE(message.find("HEED_ISA is 'avx1024'"), std::string::npos) << message;
    EXPECT_NE(message.find(name_of(available_isas().front())), std::string::npos) << message;
  }
  EXPECT_THROW(current_isa(), Error) << "it stays wrong until it is set right";
}

}  // namespace
}  // namespace heed
