// Frequencies against those of modeling_rope_utils.py of transformers 5.22.2, which computes them
// in f32.
#include "heed/attention/positions/rope_angles.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/error_message.h"

namespace heed {
namespace {

void expect_angles(const PositionConfig& config, const std::vector<double>& frequencies,
                   double factor = 1.0, std::int64_t length = 0) {
  const auto features = 2 * static_cast<std::int64_t>(frequencies.size());
  const RopeAngles angles = rope_angles(config, features, length);
  ASSERT_EQ(angles.frequencies.size(), frequencies.size());
  for (std::size_t k = 0; k < frequencies.size(); ++k) {
    EXPECT_NEAR(angles.frequencies[k] / frequencies[k], 1.0, 5e-7) << "pair " << k;
  }
  EXPECT_NEAR(angles.factor, factor, 1e-15);
}

TEST(RopeAngles, LinearDividesPositions) {
  expect_angles({.scaling = 4.0}, {0.25, 0.079056941, 0.0250000004, 0.00790569466, 0.00249999994,
                                   0.000790569466, 0.000250000012, 7.90569466e-05});
}

TEST(RopeAngles, DynamicChangesTheBaseBeyondTheOriginalLength) {
  const PositionConfig config{
      .scaling = 2.0, .scaling_kind = RopeScaling::dynamic, .original_length = 2048};
  const std::vector<double> original = {1.0,           0.316227764,   0.100000001,
                                        0.0316227786,  0.00999999978, 0.00316227786,
                                        0.00100000005, 0.000316227786};
  for (const std::int64_t length : {0, 1, 2048}) expect_angles(config, original, 1.0, length);
  expect_angles(config,
                {1.0, 0.287883073, 0.0828766674, 0.0238587912, 0.00686854264, 0.00197733706,
                 0.000569241878, 0.000163875127},
                1.0, 3000);
}

// The settings of Llama 3.1, with heads of 16 features, and of Llama 3.2.
TEST(RopeAngles, Llama3) {
  expect_angles({.base = 500000.0,
                 .scaling = 8.0,
                 .scaling_kind = RopeScaling::llama3,
                 .original_length = 8192},
                {1.0, 0.193922758, 0.0376060307, 0.00729266508, 0.000524846022, 3.42810235e-05,
                 6.64786967e-06, 1.28917316e-06});
  expect_angles({.base = 500000.0,
                 .scaling = 32.0,
                 .scaling_kind = RopeScaling::llama3,
                 .original_length = 8192},
                {1.0,
                 0.663601279,
                 0.440366626,
                 0.292227834,
                 0.193922758,
                 0.128687382,
                 0.0853971019,
                 0.0566696189,
                 0.0376060307,
                 0.0249554086,
                 0.0165604409,
                 0.0109895291,
                 0.00729266508,
                 0.00483942125,
                 0.00321144611,
                 0.00129054801,
                 0.000429556705,
                 9.70828623e-05,
                 1.94616387e-05,
                 1.29147675e-05,
                 8.57025589e-06,
                 5.68723226e-06,
                 3.77405445e-06,
                 2.50446715e-06,
                 1.66196742e-06,
                 1.10288363e-06,
                 7.31874934e-07,
                 4.85673127e-07,
                 3.22293289e-07,
                 2.1387423e-07,
                 1.41927202e-07,
                 9.41830649e-08});
}

// The settings of Qwen2.5 and of gpt-oss, with heads of 16 features.
TEST(RopeAngles, Yarn) {
  expect_angles({.base = 1000000.0,
                 .scaling = 4.0,
                 .scaling_kind = RopeScaling::yarn,
                 .original_length = 32768},
                {1.0, 0.177827939, 0.0316227786, 0.00421755994, 0.000500000024, 4.44569851e-05,
                 7.90569356e-06, 1.40585337e-06},
                1.138629436111989);
  expect_angles({.base = 150000.0,
                 .scaling = 32.0,
                 .scaling_kind = RopeScaling::yarn,
                 .original_length = 4096,
                 .truncate = false},
                {1.0, 0.225418001, 0.0508132726, 0.00679495931, 0.000456483918, 1.8188337e-05,
                 4.09997847e-06, 9.24208962e-07},
                1.3465735902799727);
  // All pairs after the first have less than beta_slow periods: the blend is a step.
  expect_angles({.scaling = 2.0,
                 .scaling_kind = RopeScaling::yarn,
                 .original_length = 4,
                 .attention_factor = 1.25},
                {1.0, 0.0500000007, 0.00499999989, 0.000500000024}, 1.25);
}

TEST(RopeAngles, WrongUseSaysWhatIsWrong) {
  const auto make = [](const PositionConfig& config, std::int64_t features = 8) {
    return error_message([&] { rope_angles(config, features); });
  };
  EXPECT_EQ(make({.scaling = 0.0}), "[rope] scaling is 0: it must be above 0");
  for (const RopeScaling kind : {RopeScaling::dynamic, RopeScaling::llama3, RopeScaling::yarn}) {
    EXPECT_EQ(
        make({.scaling_kind = kind}),
        fmt::format("[rope] scaling_kind {} needs original_length, the number of positions in "
                    "training",
                    io::enum_name(kind)));
  }
  EXPECT_EQ(make({.scaling_kind = RopeScaling::dynamic, .original_length = 8}, 2),
            "[rope] 2 features are rotated: dynamic scaling needs at least 4");
  EXPECT_EQ(make({.scaling_kind = RopeScaling::llama3,
                  .original_length = 8,
                  .low_frequency_factor = 4.0,
                  .high_frequency_factor = 4.0}),
            "[rope] high_frequency_factor 4 must be above low_frequency_factor 4");
  EXPECT_EQ(make({.base = 1.0, .scaling_kind = RopeScaling::yarn, .original_length = 8}),
            "[rope] base 1: yarn scaling needs a base above 1");
  EXPECT_EQ(make({.scaling_kind = RopeScaling::yarn,
                  .original_length = 8,
                  .beta_fast = 1.0,
                  .beta_slow = 2.0}),
            "[rope] beta_fast 1, beta_slow 2: beta_slow must be above 0 and at most beta_fast");
}

}  // namespace
}  // namespace heed
