#include "heed/attention/registry.h"

#include <gtest/gtest.h>

#include <set>

#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

TEST(Registry, EveryMechanismSaysWhatItIs) {
  std::set<std::string_view> names;
  for (const Mechanism& mechanism : mechanisms()) {
    EXPECT_TRUE(names.insert(mechanism.name).second) << mechanism.name;
    const About& about = mechanism.about;
    for (const std::string_view text :
         {about.title, about.formula, about.paper, about.cost, about.composes}) {
      EXPECT_FALSE(text.empty()) << mechanism.name;
    }
  }
}

TEST(Registry, EveryMechanismListsItsOptions) {
  for (const Mechanism& mechanism : mechanisms()) {
    std::set<std::string> paths;
    for (const io::FieldInfo& option : mechanism.options()) {
      EXPECT_TRUE(paths.insert(option.path).second) << mechanism.name << ": " << option.path;
      EXPECT_FALSE(option.help.empty()) << mechanism.name << ": " << option.path;
    }
    EXPECT_TRUE(paths.contains("embed")) << mechanism.name;
  }
}

TEST(Registry, AnUnknownNameSuggestsTheNearest) {
  EXPECT_EQ(error_message([] { find_mechanism("multihead"); }),
            "[attention] there is no mechanism \"multihead\": did you mean \"multi_head\"?");
  EXPECT_EQ(error_message([] { make_attention("psychoanalysis"); }),
            "[attention] there is no mechanism \"psychoanalysis\": `heed list` shows all");
}

TEST(Registry, OptionsReachTheLayer) {
  const auto layer = make_attention("multi_head", {"embed=12", "heads=3", "bias=false"});
  for (const NamedTensor& parameter : layer->named_parameters()) {
    EXPECT_EQ(parameter.name.find("bias"), std::string::npos) << parameter.name;
  }
  EXPECT_EQ((*layer)({.x = ones({2, 5, 12})}).shape(), (Shape{2, 5, 12}));
}

TEST(Registry, AGeneratorDecidesTheFirstValues) {
  const auto first_parameter = [](std::uint64_t seed) {
    Generator generator(seed);
    return make_attention("multi_head", {"embed=8"}, generator)->parameters()[0];
  };
  EXPECT_TRUE(test::same_bits(first_parameter(7), first_parameter(7)));
  EXPECT_FALSE(test::same_bits(first_parameter(7), first_parameter(8)));
}

TEST(Registry, WrongOptionsSayWhatIsWrong) {
  const auto message = [](const std::string& option) {
    return error_message([&] { make_attention("multi_head", {option}); });
  };
  EXPECT_NE(message("head=3").find("heads"), std::string::npos) << message("head=3");
  EXPECT_NE(message("heads=many").find("many"), std::string::npos) << message("heads=many");
  EXPECT_NE(message("heads=0").find("heads"), std::string::npos) << message("heads=0");
  EXPECT_NE(message("heads=3").find("embed 64 is not a multiple of heads 3"), std::string::npos)
      << message("heads=3");
  EXPECT_NE(message("position.name=rop").find("did you mean \"rope\"?"), std::string::npos)
      << message("position.name=rop");
}

TEST(Registry, SampleOptionsAreOneForEachWord) {
  Mechanism mechanism = find_mechanism("multi_head");
  EXPECT_TRUE(sample_options(mechanism).empty());
  mechanism.about.sample = "left=3 right=2";
  EXPECT_EQ(sample_options(mechanism), (std::vector<std::string>{"left=3", "right=2"}));
}

TEST(AttentionChoice, FromText) {
  AttentionChoice choice;
  EXPECT_EQ(choice.name, "multi_head");
  io::load_toml("name = \"multi_head\"\noptions = [\"embed=8\", \"heads=2\"]\n", choice);
  EXPECT_EQ(choice.options, (std::vector<std::string>{"embed=8", "heads=2"}));
  const auto layer = make_attention(choice.name, choice.options);
  EXPECT_EQ((*layer)({.x = ones({1, 3, 8})}).shape(), (Shape{1, 3, 8}));
}

TEST(AttentionChoice, AnUnknownNameIsFoundWhenItIsRead) {
  AttentionChoice choice;
  const std::string message =
      error_message([&] { io::load_toml("name = \"multi_hat\"\n", choice, "my.toml"); });
  EXPECT_NE(message.find("did you mean \"multi_head\"?"), std::string::npos) << message;
  EXPECT_NE(message.find("my.toml"), std::string::npos) << message;
  EXPECT_EQ(choice.name, "multi_head");
}

}  // namespace
}  // namespace heed
