// Mechanisms and position codes from one text each, options of a block, config fields, and the
// messages of wrong texts.
#include "heed/attention/choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "heed/attention/registry.h"
#include "heed/attention/variants/restricted.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"

namespace heed::choice_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// The options of a choice by name, as in TOML.
std::map<std::string, std::string> values_of(const std::vector<io::FieldInfo>& options) {
  std::map<std::string, std::string> values;
  for (const io::FieldInfo& option : options) values[option.path] = option.value;
  return values;
}

std::string value(const AttentionChoice& choice, const std::string& option) {
  const auto values = values_of(choice.options());
  const auto found = values.find(option);
  return found == values.end() ? "(no option)" : found->second;
}

TEST(SplitOptions, WordsAreSeparatedBySpaces) {
  EXPECT_THAT(split_options("restricted left=8  kv-heads=2 "),
              ElementsAre("restricted", "left=8", "kv-heads=2"));
  EXPECT_THAT(split_options("  "), IsEmpty());
  EXPECT_THAT(split_options(""), IsEmpty());
}

// ---- mechanisms ---------------------------------------------------------------------------------

TEST(AttentionChoice, IsANameAndOptions) {
  const AttentionChoice choice = "restricted left=8  kv-heads=2 ";
  EXPECT_EQ(choice.mechanism().name, "restricted");
  EXPECT_EQ(&choice.traits(), &find_mechanism("restricted").traits);
  EXPECT_EQ(choice.text(), "restricted left=8  kv-heads=2 ");
  auto expected = values_of(find_mechanism("restricted").options());
  expected["left"] = "8";
  expected["kv_heads"] = "2";
  EXPECT_EQ(values_of(choice.options()), expected) << "all others have their defaults";
}

TEST(AttentionChoice, TheLastOfEqualOptionsCounts) {
  EXPECT_EQ(value("restricted left=8 left=3", "left"), "3");
}

TEST(AttentionChoice, IsMultiHeadAttentionByDefault) {
  EXPECT_EQ(AttentionChoice().mechanism().name, "multi_head");
  EXPECT_EQ(AttentionChoice().text(), "multi_head");
  EXPECT_EQ(AttentionChoice(), AttentionChoice("multi_head"));
  EXPECT_NE(AttentionChoice(), AttentionChoice("multi_head heads=2"));
}

TEST(AttentionChoice, EveryMechanismWithItsSampleIsOne) {
  for (const Mechanism& mechanism : mechanisms()) {
    const std::string text = fmt::format("{} {}", mechanism.name, mechanism.about.sample);
    const AttentionChoice choice = text;
    EXPECT_EQ(&choice.mechanism(), &find_mechanism(mechanism.name));
    EXPECT_EQ(choice.text(), text);
    const std::unique_ptr<MechanismConfig> expected = mechanism.config();
    for (const std::string& option : sample_options(mechanism)) expected->set(option);
    EXPECT_EQ(values_of(choice.options()), values_of(expected->options())) << text;
    if (!mechanism.about.sample.empty()) {
      EXPECT_NE(values_of(choice.options()), values_of(mechanism.options())) << text;
    }
    EXPECT_NE(choice.make(), nullptr);
  }
}

TEST(AttentionChoice, OptionsReachTheLayer) {
  const auto layer =
      AttentionChoice("restricted embed=12 heads=3 left=1 right=0 bias=false").make();
  const auto* const restricted = dynamic_cast<const RestrictedAttention*>(layer.get());
  ASSERT_NE(restricted, nullptr);
  EXPECT_EQ(restricted->in_proj->weight.data.shape(), (Shape{36, 12}));
  EXPECT_FALSE(restricted->in_proj->bias.defined());
  Tensor weights;
  (*layer)({.x = ones({1, 5, 12}), .weights = &weights});
  for (std::int64_t i = 0; i < 5; ++i) {
    for (std::int64_t j = 0; j < 5; ++j) {
      EXPECT_EQ(weights.data<float>()[i * 5 + j] > 0.0f, j == i || j == i - 1) << i << ' ' << j;
    }
  }
}

TEST(AttentionChoice, TheGeneratorDecidesTheFirstValues) {
  const auto first = [](std::uint64_t seed) {
    Generator generator(seed);
    return AttentionChoice("multi_head embed=8")
        .make(generator)
        ->parameters()[0]
        .to_vector<float>();
  };
  EXPECT_EQ(first(7), first(7));
  EXPECT_NE(first(7), first(8));
}

TEST(AttentionChoice, SaysWhichOptionsItTakes) {
  const AttentionChoice choice = "restricted";
  for (const char* const option : {"left", "embed", "kv_heads", "head_size", "position"}) {
    EXPECT_TRUE(choice.takes(option)) << option;
  }
  EXPECT_TRUE(choice.takes("position.name"));
  for (const char* const option : {"lef", "pos", "combine", "temperature", ""}) {
    EXPECT_FALSE(choice.takes(option)) << option;
  }
  EXPECT_TRUE(AttentionChoice("global").takes("combine"));
  EXPECT_FALSE(AttentionChoice("global").takes("heads"));
  EXPECT_FALSE(AttentionChoice("average").takes("position"));
}

TEST(AttentionChoice, OptionsThatDoNotFitTogetherAreFoundWhenTheLayerIsMade) {
  const AttentionChoice choice = "multi_head embed=10 heads=4";
  EXPECT_THAT(error_message([&] { choice.make(); }),
              HasSubstr("embed 10 is not a multiple of heads 4"));
  EXPECT_THAT(error_message([&] { choice.within({.embed = 12, .heads = 5}).make(); }),
              HasSubstr("embed 10 is not a multiple of heads 4"))
      << "own options stay";
  EXPECT_NE(AttentionChoice("multi_head embed=10").within({.heads = 5}).make(), nullptr);
}

TEST(AttentionChoice, WrongTextsSayWhatIsWrong) {
  const auto message = [](const char* text) {
    return error_message([&] { AttentionChoice choice(text); });
  };
  EXPECT_EQ(message("  "),
            "[attention] no mechanism is named: give one, such as \"multi_head\"; `heed list` "
            "shows all");
  EXPECT_EQ(message(""), message("  "));
  EXPECT_EQ(message("multihead"),
            "[attention] there is no mechanism \"multihead\": did you mean \"multi_head\"?");
  EXPECT_EQ(message("restricted lfet=4"),
            "[attention] \"restricted\" has no option \"lfet\": did you mean \"left\"?");
  EXPECT_THAT(message("average zzzzzz=4"),
              HasSubstr("\"average\" has no option \"zzzzzz\": its options are embed, hidden"));
  EXPECT_EQ(message("restricted left"),
            "[attention] option \"left\" of \"restricted\": expected key=value");
  EXPECT_THAT(message("restricted left=few"), HasSubstr("left must be an integer"));
  EXPECT_THAT(message("multi_head heads=0"), HasSubstr("heads is 0"));
  EXPECT_THAT(message("global score=dto"), HasSubstr("dot"));
}

// ---- the options of a block ---------------------------------------------------------------------

BlockOptions all_options() {
  return {.embed = 24,
          .heads = 3,
          .kv_heads = 1,
          .head_size = 5,
          .bias = false,
          .dropout = 0.25,
          .combine = false};
}

// What all_options() sets, as options() writes it.
const std::map<std::string, std::string> kBlockValues = {
    {"embed", "24"},   {"heads", "3"},      {"kv_heads", "1"},   {"head_size", "5"},
    {"bias", "false"}, {"dropout", "0.25"}, {"combine", "false"}};

TEST(AttentionChoice, TakesTheOptionsOfABlockThatItHas) {
  for (const Mechanism& mechanism : mechanisms()) {
    auto expected = values_of(mechanism.options());
    for (auto& [option, value] : expected) {
      const auto found = kBlockValues.find(option);
      if (found != kBlockValues.end()) value = found->second;
    }
    const AttentionChoice choice = std::string(mechanism.name);
    EXPECT_EQ(values_of(choice.within(all_options()).options()), expected) << mechanism.name;
    EXPECT_EQ(values_of(choice.options()), values_of(mechanism.options())) << "unchanged";
  }
  EXPECT_EQ(value(AttentionChoice("luong_general").within({.combine = false}), "combine"), "false");
  EXPECT_EQ(value(AttentionChoice("global").within({.combine = true}), "combine"), "true");
}

TEST(AttentionChoice, OwnOptionsWinOverThoseOfABlock) {
  for (const Mechanism& mechanism : mechanisms()) {
    std::string text(mechanism.name);
    const auto defaults = values_of(mechanism.options());
    auto expected = defaults;
    const std::pair<const char*, const char*> own[] = {
        {"embed", "32"},  {"heads", "2"},       {"kv-heads", "2"},  {"head-size", "4"},
        {"bias", "true"}, {"dropout", "0.125"}, {"combine", "true"}};
    for (const auto& [option, value] : own) {
      std::string name = option;
      std::ranges::replace(name, '-', '_');
      if (!defaults.contains(name)) continue;
      text += fmt::format(" {}={}", option, value);
      expected[name] = value;
    }
    EXPECT_EQ(values_of(AttentionChoice(text).within(all_options()).options()), expected) << text;
  }
}

TEST(AttentionChoice, ABlockThatSetsNothingChangesNothing) {
  const AttentionChoice choice = "restricted left=8 heads=2";
  const AttentionChoice within = choice.within({});
  EXPECT_EQ(values_of(within.options()), values_of(choice.options()));
  EXPECT_EQ(within.text(), choice.text());
}

TEST(AttentionChoice, OwnOptionsWinInASecondBlockToo) {
  const AttentionChoice choice =
      AttentionChoice("multi_head heads=2").within({.embed = 8, .heads = 4});
  const AttentionChoice again = choice.within({.embed = 24, .heads = 6});
  EXPECT_EQ(value(again, "heads"), "2");
  EXPECT_EQ(value(again, "embed"), "24");
}

TEST(AttentionChoice, SizesOfABlockReachTheLayer) {
  const auto layer =
      AttentionChoice("longformer").within({.embed = 10, .heads = 4, .head_size = 3}).make();
  EXPECT_EQ(dynamic_cast<const MultiHeadAttention&>(*layer).in_proj->weight.data.shape(),
            (Shape{36, 10}));
  EXPECT_EQ((*layer)({.x = ones({2, 5, 10})}).shape(), (Shape{2, 5, 10}));
}

// ---- positions ----------------------------------------------------------------------------------

TEST(PositionChoice, EveryOptionCanBeSet) {
  const PositionChoice choice =
      "shaw max_length=77 offset=2 base=500.5 halves=true inclusive=true rotary_features=6 "
      "scaling=2.5 scaling_kind=yarn original_length=99 low_frequency_factor=1.5 "
      "high_frequency_factor=3.5 beta_fast=30 beta_slow=2 attention_factor=1.25 truncate=false "
      "clip=9 buckets=14 max_distance=60 bidirectional=false rows=3";
  const PositionConfig& position = choice.config();
  EXPECT_EQ(position.name, "shaw");
  EXPECT_EQ(position.max_length, 77);
  EXPECT_EQ(position.base, 500.5);
  EXPECT_TRUE(position.halves);
  EXPECT_TRUE(position.inclusive);
  EXPECT_EQ(position.offset, 2);
  EXPECT_EQ(position.rotary_features, 6);
  EXPECT_EQ(position.scaling, 2.5);
  EXPECT_EQ(position.scaling_kind, RopeScaling::yarn);
  EXPECT_EQ(position.original_length, 99);
  EXPECT_EQ(position.low_frequency_factor, 1.5);
  EXPECT_EQ(position.high_frequency_factor, 3.5);
  EXPECT_EQ(position.beta_fast, 30.0);
  EXPECT_EQ(position.beta_slow, 2.0);
  EXPECT_EQ(position.attention_factor, 1.25);
  EXPECT_FALSE(position.truncate);
  EXPECT_EQ(position.clip, 9);
  EXPECT_EQ(position.buckets, 14);
  EXPECT_EQ(position.max_distance, 60);
  EXPECT_FALSE(position.bidirectional);
  EXPECT_EQ(position.rows, 3);

  // All of them reach the mechanism.
  const AttentionChoice attention = AttentionChoice("restricted").within({.position = position});
  for (const io::FieldInfo& field : io::list_fields(position)) {
    EXPECT_EQ(value(attention, "position." + field.path), field.value) << field.path;
  }
}

TEST(PositionChoice, NoTextIsNone) {
  EXPECT_EQ(PositionChoice().config().name, "none");
  EXPECT_EQ(PositionChoice().text(), "none");
  EXPECT_EQ(PositionChoice("").config().name, "none");
  EXPECT_EQ(PositionChoice("none").config().name, "none");
  EXPECT_FALSE(PositionChoice().acts_in_attention());
  EXPECT_EQ(PositionChoice(), PositionChoice("none"));
  EXPECT_NE(PositionChoice("shaw"), PositionChoice("shaw clip=4"));
}

TEST(PositionChoice, KnowsWhichCodesActInAttention) {
  for (const PositionKind& kind : positions()) {
    const PositionChoice choice{kind.name};
    EXPECT_EQ(choice.config().name, kind.name);
    EXPECT_EQ(choice.acts_in_attention(),
              kind.way == PositionWay::heads || kind.way == PositionWay::scores)
        << kind.name;
  }
}

TEST(PositionChoice, OwnPositionsOfAnAttentionWin) {
  const PositionConfig rope = PositionChoice("rope").config();
  EXPECT_EQ(value(AttentionChoice("multi_head").within({.position = rope}), "position.name"),
            "\"rope\"");
  const AttentionChoice own = "multi_head position.name=alibi";
  EXPECT_EQ(value(own.within({.position = rope}), "position.name"), "\"alibi\"");
}

TEST(PositionChoice, CodesInsideAttentionNeedAMechanismThatTakesOne) {
  const PositionConfig alibi = PositionChoice("alibi").config();
  for (const Mechanism& mechanism : mechanisms()) {
    const AttentionChoice choice = std::string(mechanism.name);
    const std::string message = error_message([&] { choice.within({.position = alibi}); });
    if (values_of(mechanism.options()).contains("position.name")) {
      EXPECT_TRUE(choice.takes("position"));
      EXPECT_EQ(message, "(no error)") << mechanism.name;
      EXPECT_EQ(value(choice.within({.position = alibi}), "position.name"), "\"alibi\"");
    } else {
      EXPECT_FALSE(choice.takes("position"));
      EXPECT_EQ(message, fmt::format("[attention] \"{}\" takes no position code inside, and "
                                     "\"alibi\" acts there: choose one that is added to "
                                     "embeddings, such as \"sinusoidal\"",
                                     mechanism.name));
    }
    EXPECT_NO_THROW(choice.within({.embed = 8})) << "no code inside attention";
  }
}

TEST(PositionChoice, WrongTextsSayWhatIsWrong) {
  const auto message = [](const char* text) {
    return error_message([&] { PositionChoice choice(text); });
  };
  EXPECT_EQ(message("sinusodial"),
            "[position] there is no code \"sinusodial\": did you mean \"sinusoidal\"?");
  EXPECT_THAT(message("shaw clpi=4"), HasSubstr("unknown key \"clpi\": did you mean \"clip\"?"));
  EXPECT_THAT(message("shaw clip=-4"), HasSubstr("clip is -4"));
  EXPECT_THAT(message("shaw clip=few"), HasSubstr("clip must be an integer"));
  EXPECT_THAT(message("shaw 4"), HasSubstr("\"4\": expected key=value"));
}

// ---- fields of configs --------------------------------------------------------------------------

struct Config {
  std::int64_t layers = 2;
  AttentionChoice attention = {};
  std::optional<AttentionChoice> other = {};
  PositionChoice positions = "sinusoidal";

  void fields(io::Fields& field) {
    field("layers", layers, "number of layers");
    field("attention", attention, "the attention of layers");
    field("other", other, "the attention of other layers");
    field("positions", positions, "the position code");
  }
};

TEST(ChoiceField, GoesThroughTomlAndJson) {
  Config config;
  io::load_toml(
      "attention = \"restricted left=8 right=8\"\n"
      "other = \"global score=dot\"\n"
      "positions = \"shaw clip=4\"\n",
      config);
  EXPECT_EQ(config.attention.text(), "restricted left=8 right=8");
  EXPECT_EQ(value(config.attention, "right"), "8");
  ASSERT_TRUE(config.other);
  EXPECT_EQ(config.other->mechanism().name, "global");
  EXPECT_EQ(config.positions.config().clip, 4);

  Config from_toml, from_json;
  EXPECT_THAT(io::to_toml(config), HasSubstr("attention = \"restricted left=8 right=8\""));
  io::load_toml(io::to_toml(config), from_toml);
  io::load_json(io::to_json(config), from_json);
  for (const Config* const back : {&from_toml, &from_json}) {
    EXPECT_EQ(back->attention, config.attention);
    EXPECT_EQ(values_of(back->attention.options()), values_of(config.attention.options()));
    EXPECT_EQ(back->other, config.other);
    EXPECT_EQ(back->positions, config.positions);
    EXPECT_EQ(back->positions.config().clip, 4);
  }

  config.other.reset();
  io::load_toml(io::to_toml(config), from_toml);
  EXPECT_FALSE(from_toml.other);
}

TEST(ChoiceField, GoesThroughFlags) {
  Config config;
  io::set_fields(config, {"attention=restricted left=8", "positions=alibi", "other=average"});
  EXPECT_EQ(value(config.attention, "left"), "8");
  EXPECT_EQ(config.positions.config().name, "alibi");
  EXPECT_EQ(config.other->mechanism().name, "average");
  io::set_fields(config, {"other=none"});
  EXPECT_FALSE(config.other);
}

TEST(ChoiceField, ErrorsNameThePlace) {
  Config config;
  const auto message = [&](const std::string& text) {
    return error_message([&] { io::load_toml(text, config, "my.toml"); });
  };
  EXPECT_THAT(message("layers = 3\nattention = \"multi_hat\"\n"),
              AllOf(StartsWith("[config] my.toml:2:"), HasSubstr("did you mean \"multi_head\"?")));
  EXPECT_THAT(message("layers = 3\n\nother = \"restricted lfet=4\"\n"),
              AllOf(StartsWith("[config] my.toml:3:"), HasSubstr("did you mean \"left\"?")));
  EXPECT_THAT(message("positions = \"shaw clip=few\"\n"),
              AllOf(StartsWith("[config] my.toml:1:"), HasSubstr("clip must be an integer")));
  EXPECT_THAT(message("attention = 3\n"),
              AllOf(StartsWith("[config] my.toml:1:"), HasSubstr("attention must be a string")));
  EXPECT_EQ(config.layers, 2) << "nothing changes if anything is wrong";
  EXPECT_EQ(config.attention, AttentionChoice());
}

}  // namespace
}  // namespace heed::choice_test
