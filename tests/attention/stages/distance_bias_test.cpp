#include "heed/attention/stages.h"

#include <gtest/gtest.h>

#include "heed/attention/attention.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

TEST(DistanceBias, ALongerTableServesShorterSequences) {
  Generator generator(1);
  const Tensor x = normal({1, 2, 5, 4}, 0.0, 1.0, generator);
  const Tensor table = normal({2, 101}, 0.0, 1.0, generator);
  const Tensor cut = view::slice(table, 1, 46, 55);  // distances -4 to 4, not contiguous
  EXPECT_TRUE(test::same_bits(attention(x, x, x, {.modifiers = {distance_bias(table, 50)}}),
                              attention(x, x, x, {.modifiers = {distance_bias(cut, 4)}})));
}

TEST(DistanceBias, WrongUseSaysWhatIsWrong) {
  const Tensor q = ones({1, 2, 3, 4}), k = ones({1, 2, 5, 4});
  const auto message = [&](const Tensor& table, std::int64_t zero, Corner corner) {
    return error_message(
        [&] { attention(q, k, k, {.modifiers = {distance_bias(table, zero, corner)}}); });
  };
  EXPECT_EQ(message(ones({2, 7}), 4, Corner::top_left), "(no error)");
  EXPECT_EQ(message(ones({2, 7}), 2, Corner::bottom_right), "(no error)");
  EXPECT_EQ(message(ones({2, 6}), 4, Corner::top_left),
            "[attention] table of distance_bias [2, 6] with zero = 4: 3 queries and 5 keys need "
            "indices 0 to 6");
  EXPECT_EQ(message(ones({2, 7}), 3, Corner::top_left),
            "[attention] table of distance_bias [2, 7] with zero = 3: 3 queries and 5 keys need "
            "indices -1 to 5");
  EXPECT_EQ(message(ones({3, 7}), 4, Corner::top_left),
            "[attention] table of distance_bias [3, 7]: it must be [length] or [H, length], H = 2");
}

}  // namespace
}  // namespace heed
