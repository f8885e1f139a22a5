// Memory that runs out in the middle of a copy or a construction: std::bad_alloc, and what was made
// until then is destroyed once.
#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <string>

#include "heed/io/value.h"
#include "heed/training/run.h"
#include "tests/allocation/count_allocations.h"

namespace heed {
namespace {

// Lets each allocation of f fail in turn; the number of them.
int fail_each_allocation(const std::function<void()>& f) {
  for (int n = 1;; ++n) {
    bool failed = false;
    test::fail_allocation(static_cast<std::uint64_t>(n));
    try {
      f();
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    test::fail_allocation(0);
    if (!failed) return n - 1;
  }
}

TEST(OutOfMemory, CopiesOfValues) {
  const std::string text = "a text that is too long to be stored without memory";
  const io::Value leaf{text};
  const io::Value value{io::Value::Table{{"list", {io::Value::List{leaf, leaf, leaf}}}}};
  EXPECT_EQ(fail_each_allocation([&] { const io::Value copy = value; }), 5);
}

TEST(OutOfMemory, ConfigOfARun) {
  const auto change = [](TrainConfig& config) { config.model = "m"; };
  EXPECT_GT(fail_each_allocation([&] { run_config({}, false, change); }), 10);
}

}  // namespace
}  // namespace heed
