#include "heed/attention/stages.h"

#include <gtest/gtest.h>

#include "heed/attention/attention.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

TEST(Temperature, DividesScores) {
  Generator generator(1);
  const Tensor x = normal({1, 2, 5, 4}, 0.0, 1.0, generator);
  const Tensor expected = attention(x, x, x, {.score = dot_score()});
  for (const Modifier& modifier :
       {temperature(0.5), temperature(full({}, 0.5)), temperature(full({2}, 0.5))}) {
    const Tensor y = attention(x, x, x, {.score = scaled_dot_score(0.5), .modifiers = {modifier}});
    EXPECT_LE(test::max_relative_error(y, expected), 1e-6);
  }
}

TEST(Temperature, WrongUseSaysWhatIsWrong) {
  const Tensor x = ones({1, 2, 3, 4});
  EXPECT_EQ(error_message([] { temperature(0.0); }),
            "[temperature] temperature 0: it must be positive and finite");
  EXPECT_EQ(error_message([] { temperature(Tensor()); }),
            "[temperature] temperature is an undefined tensor");
  EXPECT_EQ(error_message([&] { attention(x, x, x, {.modifiers = {temperature(ones({3}))}}); }),
            "[attention] temperature [3]: it must be one number or [2], one for each head");
}

}  // namespace
}  // namespace heed
