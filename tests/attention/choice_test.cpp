// Mechanisms and position codes from one text each, and what is said of wrong ones.
#include "heed/models/choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/attention/variants/multi_head.h"
#include "heed/attention/variants/restricted.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Choice, AttentionIsANameAndOptions) {
  const AttentionChoice choice = parse_attention("restricted left=8  kv-heads=2 ");
  EXPECT_EQ(choice.name, "restricted");
  EXPECT_THAT(choice.options, ElementsAre("left=8", "kv-heads=2"));
  EXPECT_TRUE(parse_attention("multi_head").options.empty());
}

TEST(Choice, EveryMechanismWithItsSampleIsOne) {
  for (const Mechanism& mechanism : mechanisms()) {
    const AttentionChoice choice =
        parse_attention(fmt::format("{} {}", mechanism.name, mechanism.about.sample));
    EXPECT_EQ(choice.name, mechanism.name);
    EXPECT_EQ(choice.options, sample_options(mechanism));
    EXPECT_NE(make_attention(choice.name, choice.options), nullptr);
  }
}

// What is set in one text comes back when all fields are written as another.
TEST(Choice, EveryOptionOfPositionsCanBeSet) {
  const PositionConfig position = parse_positions(
      "shaw max_length=77 base=500.5 halves=true scaling=2.5 clip=9 buckets=14 max_distance=60 "
      "bidirectional=false rows=3");
  EXPECT_EQ(position.name, "shaw");
  EXPECT_EQ(position.max_length, 77);
  EXPECT_EQ(position.base, 500.5);
  EXPECT_TRUE(position.halves);
  EXPECT_EQ(position.scaling, 2.5);
  EXPECT_EQ(position.clip, 9);
  EXPECT_EQ(position.buckets, 14);
  EXPECT_EQ(position.max_distance, 60);
  EXPECT_FALSE(position.bidirectional);
  EXPECT_EQ(position.rows, 3);

  const AttentionChoice choice = with_positions({.name = "multi_head"}, position);
  MultiHeadConfig config;
  io::set_fields(config, choice.options);
  EXPECT_EQ(io::to_toml(config.position), io::to_toml(position));
}

TEST(Choice, NoPositionsAreNone) {
  EXPECT_EQ(parse_positions("").name, "none");
  EXPECT_EQ(parse_positions("none").name, "none");
  EXPECT_EQ(find_position("none").way, PositionWay::nowhere);
}

TEST(Choice, EveryCodeGoesItsWay) {
  for (const PositionKind& kind : positions()) {
    const PositionConfig position = parse_positions(kind.name);
    EXPECT_EQ(find_position(position.name).way, kind.way) << kind.name;
    const AttentionChoice choice =
        with_positions(parse_attention("multi_head kv_heads=1"), position);
    const bool inside = kind.way == PositionWay::heads || kind.way == PositionWay::scores;
    EXPECT_EQ(choice.options.size() > 1, inside) << kind.name;
    EXPECT_EQ(choice.options.back(), "kv_heads=1") << "own options have the last word";
  }
}

TEST(Choice, CodesInsideGoOnlyWhereThereIsAPlaceForThem) {
  const PositionConfig alibi = parse_positions("alibi");
  for (const Mechanism& mechanism : mechanisms()) {
    const std::vector<io::FieldInfo> options = mechanism.options();
    const bool takes = std::ranges::any_of(
        options, [](const io::FieldInfo& field) { return field.path == "position.name"; });
    const std::string name(mechanism.name);
    const std::string message = error_message([&] { with_positions({.name = name}, alibi); });
    if (takes) {
      EXPECT_EQ(message, "(no error)") << name;
    } else {
      EXPECT_EQ(message, fmt::format("[attention] \"{}\" takes no position code inside, and "
                                     "\"alibi\" acts there: choose one that is added to "
                                     "embeddings, such as \"sinusoidal\"",
                                     name));
    }
    EXPECT_NO_THROW(with_positions({.name = name}, parse_positions("sinusoidal")));
  }
}

TEST(Choice, WrongTextsSayWhatIsWrong) {
  EXPECT_EQ(error_message([] { parse_attention("  "); }),
            "[attention] no mechanism is named: give one, such as \"multi_head\"; `heed list` "
            "shows all");
  EXPECT_EQ(error_message([] { parse_attention("multihead"); }),
            "[attention] there is no mechanism \"multihead\": did you mean \"multi_head\"?");
  EXPECT_EQ(error_message([] { parse_attention("restricted lfet=4"); }),
            "[attention] \"restricted\" has no option \"lfet\": did you mean \"left\"?");
  EXPECT_THAT(error_message([] { parse_attention("average zzzzzz=4"); }),
              HasSubstr("\"average\" has no option \"zzzzzz\": its options are embed, hidden"));
  EXPECT_EQ(error_message([] { parse_attention("restricted left"); }),
            "[attention] option \"left\" of \"restricted\": expected key=value");
  EXPECT_EQ(error_message([] { parse_positions("sinusodial"); }),
            "[position] there is no code \"sinusodial\": did you mean \"sinusoidal\"?");
  EXPECT_THAT(error_message([] { parse_positions("shaw clpi=4"); }),
              HasSubstr("unknown key \"clpi\": did you mean \"clip\"?"));
  EXPECT_THAT(error_message([] { parse_positions("shaw clip=-4"); }), HasSubstr("clip is -4"));
  EXPECT_THAT(error_message([] { parse_positions("shaw clip=few"); }),
              HasSubstr("clip must be an integer"));
  EXPECT_THAT(error_message([] { parse_positions("shaw 4"); }),
              HasSubstr("\"4\": expected key=value"));
}

}  // namespace
}  // namespace heed
