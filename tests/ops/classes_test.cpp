#include "heed/ops/classes.h"

#include <gtest/gtest.h>

#include "heed/tensor/create.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

TEST(Classes, IgnoredRowsAreMarkedAndNotCounted) {
  const Classes classes = classes_of(from_values<std::int32_t>({2, 9, 0, 9}, {2, 2}), 3, 9);
  EXPECT_EQ(classes.counted, 2);
  EXPECT_EQ(classes.targets.to_vector<std::int64_t>(), (std::vector<std::int64_t>{2, -1, 0, -1}));
}

TEST(Classes, WrongOnesAreNamed) {
  EXPECT_EQ(error_message([] { classes_of(zeros({1}), 3, -100); }),
            "[cross_entropy] targets are f32: classes are i64 or i32");
  EXPECT_EQ(error_message([] {
              classes_of(from_values<std::int64_t>({0, 3}, {2}), 3, -100);
            }),
            "[cross_entropy] the target of row 1 is 3: it must be a class from 0 to 2, or "
            "ignore_index, which is -100");
}

}  // namespace
}  // namespace heed
