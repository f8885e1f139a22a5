#include "heed/plot/pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/attention/registry.h"
#include "heed/tensor/copy.h"
#include "tests/support/error_message.h"

namespace heed::plot {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Pattern, EveryMechanismHasOne) {
  for (const Mechanism& mechanism : mechanisms()) {
    const std::vector<Heatmap> maps = pattern_of(mechanism, {.positions = 12});
    ASSERT_FALSE(maps.empty()) << mechanism.name;
    EXPECT_GT(maps[0].weights.numel(), 0) << mechanism.name;
    EXPECT_THAT(heatmap_svg(maps), HasSubstr("</svg>")) << mechanism.name;
  }
}

TEST(Pattern, CausalHidesWhatComesLater) {
  const std::vector<Heatmap> maps =
      pattern_of(find_mechanism("multi_head"), {.positions = 8, .causal = true});
  const Tensor w = clone_data(maps[0].weights);
  for (int i = 0; i < 8; ++i) {
    for (int j = i + 1; j < 8; ++j) EXPECT_EQ(w.data<float>()[i * 8 + j], 0.0f);
    EXPECT_GT(w.data<float>()[i * 8 + i], 0.0f);
  }
}

TEST(Pattern, OptionsReachTheLayer) {
  const auto& mechanism = find_mechanism("multi_head");
  EXPECT_EQ(pattern_of(mechanism, {.options = {"heads=8"}}).size(), 8u);
  EXPECT_THAT(error_message([&] { pattern_of(mechanism, {.options = {"hads=8"}}); }),
              HasSubstr("did you mean"));
  for (const std::int64_t positions : {-1ll, 0ll, 5000ll, 1ll << 62}) {
    EXPECT_THAT(error_message([&] { pattern_of(mechanism, {.positions = positions}); }),
                HasSubstr("from 1 to 4096"));
  }
}

TEST(Pattern, SampleOptionsAreSplitAtSpaces) {
  Mechanism mechanism = find_mechanism("multi_head");
  mechanism.about.sample = "left=3 right=2";
  EXPECT_THAT(sample_options(mechanism), ElementsAre("left=3", "right=2"));
}

}  // namespace
}  // namespace heed::plot
