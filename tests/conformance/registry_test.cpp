// Every mechanism of the registry passes every check.
#include <gtest/gtest.h>

#include "tests/conformance/conformance.h"

namespace heed::test {
namespace {

class Conformance : public testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {};

TEST_P(Conformance, Holds) {
  const auto [mechanism, check] = GetParam();
  for (const std::string& failure : all_checks()[check].run(subject_of(mechanisms()[mechanism]))) {
    ADD_FAILURE() << failure;
  }
}

std::string case_name(const testing::TestParamInfo<Conformance::ParamType>& at) {
  const auto [mechanism, check] = at.param;
  return fmt::format("{}_{}", mechanisms()[mechanism].name, all_checks()[check].name);
}

INSTANTIATE_TEST_SUITE_P(Registry, Conformance,
                         testing::Combine(testing::Range<std::size_t>(0, mechanisms().size()),
                                          testing::Range<std::size_t>(0, all_checks().size())),
                         case_name);

// Options of multi-head attention that change what is computed, as published models use them. The
// mechanisms that derive from it share the code; one of them stands for all.
struct Options {
  const char* name;
  const char* mechanism;
  const char* options;
};
constexpr Options kOptions[] = {
    {"three_projections", "multi_head", "joint=false bias=false qkv_bias=true"},
    {"no_bias_of_queries", "multi_head", "qkv_bias=false"},
    {"normed_heads", "multi_head", "qk_norm=true position.name=rope position.halves=true"},
    {"capped_scores", "multi_head",
     "scale=0.7 soft_cap=1.5 position.name=t5 position.buckets=8 position.max_distance=20"},
    {"window", "restricted", "joint=false kv_heads=1 head_size=6 qk_norm=true soft_cap=2"},
    {"yarn", "multi_head",
     "position.name=rope position.rotary_features=6 position.scaling_kind=yarn position.scaling=4 "
     "position.original_length=8 position.beta_fast=2 position.beta_slow=0.2"},
};

class OptionConformance : public testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {};

TEST_P(OptionConformance, Holds) {
  const auto [options, check] = GetParam();
  const Options& of = kOptions[options];
  const Subject subject = subject_of(find_mechanism(of.mechanism), of.options);
  for (const std::string& failure : all_checks()[check].run(subject)) ADD_FAILURE() << failure;
}

std::string option_case_name(const testing::TestParamInfo<OptionConformance::ParamType>& at) {
  const auto [options, check] = at.param;
  return fmt::format("{}_{}", kOptions[options].name, all_checks()[check].name);
}

INSTANTIATE_TEST_SUITE_P(Registry, OptionConformance,
                         testing::Combine(testing::Range<std::size_t>(0, std::size(kOptions)),
                                          testing::Range<std::size_t>(0, all_checks().size())),
                         option_case_name);

}  // namespace
}  // namespace heed::test
