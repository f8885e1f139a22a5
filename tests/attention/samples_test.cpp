// What layers record while they sample: the samples themselves stay the same.
#include "heed/attention/samples.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/attention/registry.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/create.h"
#include "tests/support/op_case.h"

namespace heed::samples_test {
namespace {

TEST(Samples, AreRecordedWhileSomeoneListens) {
  for (const char* const name : {"hard", "gumbel"}) {
    const auto layer = make_attention(name, {"embed=8"});
    const Tensor x = randn({2, 5, 8}), memory = randn({2, 3, 8});
    const auto run = [&] {
      default_generator() = Generator(4);
      return (*layer)({.x = x, .memory = memory});
    };
    const Tensor alone = run();
    std::vector<Sampled> samples, inner;
    {
      const RecordSamples record(samples);
      EXPECT_EQ(recorded_samples(), &samples);
      EXPECT_TRUE(test::same_bits(run(), alone)) << name;
      {
        const RecordSamples nested(inner);
        run();
      }
      run();
    }
    EXPECT_EQ(recorded_samples(), nullptr);
    run();
    ASSERT_EQ(samples.size(), 2u);
    EXPECT_EQ(inner.size(), 1u);
    EXPECT_EQ(to_string(samples[0].entropy.shape()), "[2, 5]");
    for (const float h : samples[0].entropy.to_vector<float>()) {
      EXPECT_GT(h, 0.0f);
      EXPECT_LE(h, std::log(3.0f) + 1e-5f);
    }
    EXPECT_EQ(samples[0].log_prob.defined(), std::string(name) == "hard");
  }
}

TEST(Samples, LogProbabilitiesReachTheScores) {
  const auto layer = make_attention("hard", {"embed=8"});
  std::vector<Sampled> samples;
  {
    const RecordSamples record(samples);
    (*layer)({.x = randn({2, 5, 8}), .memory = randn({2, 3, 8})});
  }
  sum(samples.at(0).log_prob).backward();
  for (const NamedTensor& parameter : layer->named_parameters()) {
    EXPECT_TRUE(parameter.tensor.grad().defined()) << parameter.name;
  }
}

TEST(Samples, OutsideTrainingNothingIsSampled) {
  const auto layer = make_attention("hard", {"embed=8"});
  layer->eval();
  std::vector<Sampled> samples;
  const RecordSamples record(samples);
  (*layer)({.x = randn({2, 5, 8}), .memory = randn({2, 3, 8})});
  EXPECT_TRUE(samples.empty());
}

}  // namespace
}  // namespace heed::samples_test
