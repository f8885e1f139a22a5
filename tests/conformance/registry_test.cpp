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

}  // namespace
}  // namespace heed::test
