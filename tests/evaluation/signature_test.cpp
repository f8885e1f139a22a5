// Signatures: their parts and their order.
#include "heed/evaluation/signature.h"

#include <gtest/gtest.h>

namespace heed::evaluation {
namespace {

TEST(Signature, ListsPartsInOrder) {
  const std::string version(kSacrebleuVersion);
  Signature signature{.references = 2, .metric = {{"case", "c", "lc"}, {"tok", "t", "13a"}}};
  EXPECT_EQ(to_string(signature, false), "nrefs:2|case:lc|tok:13a|version:" + version);
  EXPECT_EQ(to_string(signature, true), "#:2|c:lc|t:13a|v:" + version);
  signature.seed = 7;
  EXPECT_EQ(to_string(signature, false), "nrefs:2|case:lc|tok:13a|version:" + version);
  signature.bootstrap_trials = 1000;
  EXPECT_EQ(to_string(signature, false),
            "nrefs:2|bs:1000|seed:7|case:lc|tok:13a|version:" + version);
  signature.bootstrap_trials.reset();
  signature.randomised_trials = 50;
  EXPECT_EQ(to_string(signature, true), "#:2|ar:50|rs:7|c:lc|t:13a|v:" + version);
}

}  // namespace
}  // namespace heed::evaluation
