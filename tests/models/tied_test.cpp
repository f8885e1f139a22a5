#include "heed/models/tied.h"

#include <gtest/gtest.h>

#include "tests/support/error_message.h"

namespace heed::tied_test {
namespace {

TEST(Tied, SaysWhatIsShared) {
  EXPECT_FALSE(shares_embeddings(Tied::none) || shares_embeddings(Tied::two));
  EXPECT_TRUE(shares_embeddings(Tied::three) && shares_embeddings(Tied::embeddings));
  EXPECT_TRUE(has_own_output(Tied::none) && has_own_output(Tied::embeddings));
  EXPECT_FALSE(has_own_output(Tied::two) || has_own_output(Tied::three));
}

TEST(Tied, OneMatrixNeedsOneVocabulary) {
  check_tied("recurrent", Tied::two, {5, 7});
  check_tied("recurrent", Tied::three, {7, 7});
  check_tied("recurrent", Tied::three, {0, 7});
  EXPECT_EQ(error_message([] {
              check_tied("recurrent", Tied::three, {5, 7});
            }),
            "[recurrent] tied = \"three\" with vocabularies of 5 and 7: share one vocabulary, or "
            "use tied = \"two\"");
  EXPECT_EQ(error_message([] {
              check_tied("recurrent", Tied::embeddings, {5, 7});
            }),
            "[recurrent] tied = \"embeddings\" with vocabularies of 5 and 7: share one vocabulary, "
            "or use tied = \"none\"");
}

}  // namespace
}  // namespace heed::tied_test
