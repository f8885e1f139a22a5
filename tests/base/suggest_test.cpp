// The word a user probably meant.
#include "heed/base/suggest.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace heed {
namespace {

constexpr std::array<std::string_view, 6> kKeys = {
    "learning_rate", "batch_size", "warmup", "lr", "eps", "label_smoothing"};

TEST(Suggest, DistanceCountsEachKindOfSlipOnce) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("same", "same"), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("rate", "rates"), 1u);
  EXPECT_EQ(edit_distance("rate", "rte"), 1u);
  EXPECT_EQ(edit_distance("rate", "rake"), 1u);
  EXPECT_EQ(edit_distance("rate", "rtae"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("ca", "abc"), 3u) << "a letter is edited only once";
}

TEST(Suggest, DistanceIsSymmetric) {
  for (const std::string_view a : kKeys) {
    for (const std::string_view b : kKeys) EXPECT_EQ(edit_distance(a, b), edit_distance(b, a));
  }
}

TEST(Suggest, FindsTheWordMeant) {
  EXPECT_EQ(nearest("lerning_rate", kKeys), "learning_rate");
  EXPECT_EQ(nearest("learning-rate", kKeys), "learning_rate");
  EXPECT_EQ(nearest("bacth_size", kKeys), "batch_size");
  EXPECT_EQ(nearest("Batch_Size", kKeys), "batch_size");
  EXPECT_EQ(nearest("warm_up", kKeys), "warmup");
  EXPECT_EQ(nearest("l", kKeys), "lr");
  EXPECT_EQ(nearest("esp", kKeys), "eps");
}

TEST(Suggest, StaysSilentWhenNothingIsClose) {
  EXPECT_EQ(nearest("dropout", kKeys), "");
  EXPECT_EQ(nearest("x", kKeys), "");
  EXPECT_EQ(nearest("", kKeys), "");
  EXPECT_EQ(nearest("eps", {}), "");
  EXPECT_EQ(nearest(std::string(100000, 'a'), kKeys), "");
}

TEST(Suggest, PrefersTheCloserAndThenTheFirst) {
  constexpr std::array<std::string_view, 3> words = {"beam_sizes", "beam_size", "beam_sice"};
  EXPECT_EQ(nearest("beam_size", words), "beam_size");
  EXPECT_EQ(nearest("beam_sise", words), "beam_size");
}

}  // namespace
}  // namespace heed
