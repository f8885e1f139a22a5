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

TEST(Registry, ListsEveryMechanismsGradient) {
  EXPECT_EQ(find_mechanism("multi_head").traits.gradient, Gradient::exact);
  EXPECT_EQ(find_mechanism("gumbel").traits.gradient, Gradient::straight_through);
  EXPECT_EQ(find_mechanism("hard").traits.gradient, Gradient::none);
  EXPECT_EQ(io::enum_name(Gradient::straight_through), "straight_through");
}

TEST(Registry, AConfigIsACopy) {
  const std::unique_ptr<MechanismConfig> config = find_mechanism("restricted").config();
  const std::unique_ptr<MechanismConfig> copy = config->clone();
  const auto left = [](const MechanismConfig& of) {
    for (const io::FieldInfo& option : of.options()) {
      if (option.path == "left") return option.value;
    }
    return std::string("(no option)");
  };
  const std::string before = left(*config);
  copy->set("left=5");
  EXPECT_EQ(left(*copy), "5");
  EXPECT_EQ(left(*config), before);
  EXPECT_EQ(left(*find_mechanism("restricted").config()), before) << "a new one has the defaults";
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

}  // namespace
}  // namespace heed
