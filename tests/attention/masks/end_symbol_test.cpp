#include "heed/attention/masks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Tensor& ids() {
  static const Tensor all = from_values<std::int64_t>({5, 6, 2, 0, 0,  //
                                                       2, 2, 7, 2, 0,  //
                                                       5, 6, 7, 8, 2,  //
                                                       5, 6, 7, 8, 9},
                                                      {4, 5});
  return all;
}

TEST(EndSymbol, ASequenceIsOverAtItsFirst) {
  EXPECT_THAT(lengths_by_end_symbol(ids(), 2).to_vector<std::int64_t>(), ElementsAre(3, 1, 5, 5));
  EXPECT_THAT(lengths_by_end_symbol(ids(), 2, EndSymbol::is_padding).to_vector<std::int64_t>(),
              ElementsAre(2, 0, 4, 5));
  EXPECT_THAT(lengths_by_end_symbol(ids(), 99).to_vector<std::int64_t>(), ElementsAre(5, 5, 5, 5));
}

TEST(EndSymbol, AnyLayoutAndBothTypesOfIds) {
  const Tensor other = cast_data(clone_data(view::transpose(ids(), 0, 1)), DType::i32);
  EXPECT_THAT(lengths_by_end_symbol(view::transpose(other, 0, 1), 2).to_vector<std::int64_t>(),
              ElementsAre(3, 1, 5, 5));
  EXPECT_THAT(lengths_by_end_symbol(zeros({0, 5}, DType::i64), 2).to_vector<std::int64_t>(),
              IsEmpty());
  EXPECT_THAT(lengths_by_end_symbol(zeros({2, 0}, DType::i64), 2).to_vector<std::int64_t>(),
              ElementsAre(0, 0));
}

TEST(EndSymbol, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] { lengths_by_end_symbol(zeros({3}, DType::i64), 2); }),
            "[lengths_by_end_symbol] ids are [3]: give [B, T]");
  EXPECT_EQ(error_message([] {
              lengths_by_end_symbol(zeros({3, 2}), 2);
            }),
            "[lengths_by_end_symbol] indices are f32: they must be i32 or i64; use cast(x, "
            "DType::i64)");
}

}  // namespace
}  // namespace heed
