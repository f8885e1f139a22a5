#include "heed/attention/position.h"

#include <gtest/gtest.h>

#include <set>

#include "heed/attention/variants/multi_head.h"
#include "heed/io/config.h"
#include "heed/tensor/create.h"
#include "tests/conformance/conformance.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

TEST(Position, TheListHasDistinctNamesAndSaysWhatTheyAre) {
  std::set<std::string_view> names;
  for (const PositionKind& kind : positions()) {
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
    EXPECT_GE(kind.what.size(), 20u) << kind.name;
  }
  EXPECT_EQ(positions()[0].name, "none");
}

TEST(Position, NoneIsNothing) {
  EXPECT_EQ(make_position({}, {.embed = 4, .heads = 2, .head = 2}), nullptr);
}

TEST(Position, AnUnknownNameSuggestsTheNearest) {
  EXPECT_EQ(error_message([] { make_position({.name = "sinusoid"}, {.embed = 4}); }),
            "[position] there is no code \"sinusoid\": did you mean \"sinusoidal\"?");
  EXPECT_EQ(error_message([] { make_position({.name = "clockwork"}, {.embed = 4}); }),
            "[position] there is no code \"clockwork\": `heed list` shows all");
}

TEST(Position, AConfigFromText) {
  PositionConfig config;
  io::load_toml("name = \"shaw\"\nclip = 3\nhalves = true\n", config);
  EXPECT_EQ(config.name, "shaw");
  EXPECT_EQ(config.clip, 3);
  EXPECT_TRUE(config.halves);
  EXPECT_NE(error_message([&] { io::set_fields(config, {"scaling=0"}); }).find("scaling"),
            std::string::npos);
}

TEST(Position, ACodeSaysWhichWayItGoes) {
  for (const PositionKind& kind : positions()) {
    if (kind.way == PositionWay::none) continue;
    Generator generator(1);
    const auto code = kind.make({}, {.embed = 8, .heads = 2, .head = 4}, generator);
    const Tensor x = zeros({1, 3, 8}), heads = ones({1, 2, 3, 4});
    AttentionSpec spec;
    code->modify(spec, Corner::top_left);
    const bool embeds = code->embed(x, 1).to_vector<float>() != x.to_vector<float>();
    const bool turns = code->rotate(heads, 1).to_vector<float>() != heads.to_vector<float>();
    EXPECT_EQ(embeds, kind.way == PositionWay::embeddings) << kind.name;
    EXPECT_EQ(turns, kind.way == PositionWay::heads) << kind.name;
    EXPECT_EQ(!spec.modifiers.empty(), kind.way == PositionWay::scores) << kind.name;
  }
}

// Multi-head attention passes the conformance checks with every code, including decoding.
class PositionConformance : public testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {};

TEST_P(PositionConformance, Holds) {
  const auto [code, check] = GetParam();
  const std::string name(positions()[code].name);
  const test::Subject subject{name, {.decodes = true}, [name] {
                                Generator generator(5);
                                auto layer = std::make_unique<MultiHeadAttention>(
                                    MultiHeadConfig{.embed = 16,
                                                    .heads = 4,
                                                    .kv_heads = 2,
                                                    .position = {.name = name,
                                                                 .max_length = 80,
                                                                 .clip = 3,
                                                                 .buckets = 8,
                                                                 .max_distance = 20}},
                                    generator);
                                layer->eval();
                                return layer;
                              }};
  for (const std::string& failure : test::all_checks()[check].run(subject)) {
    ADD_FAILURE() << failure;
  }
}

std::string case_name(const testing::TestParamInfo<PositionConformance::ParamType>& at) {
  const auto [code, check] = at.param;
  return fmt::format("{}_{}", positions()[code].name, test::all_checks()[check].name);
}

INSTANTIATE_TEST_SUITE_P(Codes, PositionConformance,
                         testing::Combine(testing::Range<std::size_t>(0, positions().size()),
                                          testing::Range<std::size_t>(0,
                                                                      test::all_checks().size())),
                         case_name);

}  // namespace
}  // namespace heed
