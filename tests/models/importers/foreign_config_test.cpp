// Configs of other programs: values by one of several keys, defaults, and messages that name the
// file, the key and what was expected.
#include "heed/models/importers/foreign_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/file.h"
#include "heed/io/json.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::foreign_config_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ForeignConfig config_of(std::string_view json) {
  return {io::parse_json(json, "config.json"), "folder/config.json"};
}

TEST(ForeignConfig, GivesTheFirstKeyThatHasAValue) {
  const ForeignConfig config = config_of(R"({"n_layer": null, "layers": 3, "depth": 4})");
  EXPECT_EQ(config.integer({"n_layer", "layers", "depth"}), 3);
  EXPECT_EQ(config.integer({"depth", "layers"}), 4);
  EXPECT_FALSE(config.has("n_layer")) << "null is no value";
  EXPECT_TRUE(config.has({"n_layer", "depth"}));
  EXPECT_EQ(config.integer("n_layer", 7), 7);
}

TEST(ForeignConfig, GivesValuesOfEveryType) {
  const ForeignConfig config = config_of(
      R"({"i": 3, "f": 1e-6, "b": true, "t": "gelu", "is": [2, 3], "ts": ["a", "b"], "in": {"x": 5}})");
  EXPECT_EQ(config.number("f"), 1e-6);
  EXPECT_EQ(config.number("i"), 3.0) << "an integer is a number";
  EXPECT_EQ(config.number("none", 0.5), 0.5);
  EXPECT_TRUE(config.boolean("b", false));
  EXPECT_TRUE(config.boolean("none", true));
  EXPECT_EQ(config.text("t"), "gelu");
  EXPECT_EQ(config.text("none", "relu"), "relu");
  EXPECT_THAT(config.integers("is"), ElementsAre(2, 3));
  EXPECT_THAT(config.integers("i"), ElementsAre(3)) << "a list of one";
  EXPECT_THAT(config.integers("none"), IsEmpty());
  EXPECT_THAT(config.texts("ts"), ElementsAre("a", "b"));
  EXPECT_EQ(config.section("in").integer("x"), 5);
  EXPECT_FALSE(config.section("none").has("x"));
  EXPECT_EQ(config.section("in").source(), "folder/config.json");
}

TEST(ForeignConfig, SaysWhatIsMissingOrOfAnotherType) {
  const ForeignConfig config =
      config_of(R"({"i": 3, "t": "x", "list": [1, "a"], "ts": ["a", 2], "f": 1.5})");
  const auto complaint = [](auto&& call) { return error_message(call); };
  EXPECT_THAT(complaint([&] {
                config.integer({"hidden_size", "n_embd"});
              }),
              AllOf(HasSubstr("folder/config.json"), HasSubstr("\"hidden_size\" or \"n_embd\""),
                    HasSubstr("needs")));
  EXPECT_THAT(complaint([&] { config.integer("t"); }),
              AllOf(HasSubstr("\"t\""), HasSubstr("expected an integer")));
  EXPECT_THAT(complaint([&] { config.integer("f"); }), HasSubstr("expected an integer"));
  EXPECT_THAT(complaint([&] { config.integer("t", 3); }), HasSubstr("expected an integer"))
      << "a default replaces no wrong value";
  EXPECT_THAT(complaint([&] { config.number("t"); }), HasSubstr("expected a number"));
  EXPECT_THAT(complaint([&] { config.boolean("i", true); }), HasSubstr("expected true or false"));
  EXPECT_THAT(complaint([&] { config.text("i"); }), HasSubstr("expected a text"));
  EXPECT_THAT(complaint([&] { config.integers("list"); }), HasSubstr("an integer in the list"));
  EXPECT_THAT(complaint([&] { config.integers("t"); }), HasSubstr("a list of integers"));
  EXPECT_THAT(complaint([&] { config.texts("ts"); }), HasSubstr("a text in the list"));
  EXPECT_THAT(complaint([&] { config.texts("i"); }), HasSubstr("a list of texts"));
  EXPECT_THAT(complaint([&] { config.section("i"); }), HasSubstr("expected a table"));
  EXPECT_THAT(complaint([] { config_of("[1]"); }), HasSubstr("not a table of settings"));
}

TEST(ForeignConfig, RefusesOptionsWithAnotherValue) {
  const ForeignConfig config = config_of(R"({"kind": "absolute", "scaled": true})");
  EXPECT_EQ(error_message([&] { config.expect("kind", "absolute"); }), "(no error)");
  EXPECT_EQ(error_message([&] { config.expect("absent", "absolute"); }), "(no error)");
  EXPECT_EQ(error_message([&] { config.expect("scaled", true); }), "(no error)");
  EXPECT_EQ(error_message([&] { config.expect("absent", true); }), "(no error)");
  EXPECT_THAT(error_message([&] { config.expect("kind", "relative"); }),
              AllOf(HasSubstr("folder/config.json"), HasSubstr("\"kind\" is \"absolute\""),
                    HasSubstr("only \"relative\"")));
  EXPECT_THAT(error_message([&] { config.expect("scaled", false); }),
              AllOf(HasSubstr("\"scaled\" is true"), HasSubstr("false")));
}

TEST(ForeignConfig, ReadsAFile) {
  const TempDir dir;
  io::write_file(dir / "config.json", R"({"model_type": "llama"})");
  const ForeignConfig config = ForeignConfig::read(dir / "config.json");
  EXPECT_EQ(config.text("model_type"), "llama");
  EXPECT_EQ(config.source(), (dir / "config.json").string());
  io::write_file(dir / "bad.json", "{");
  EXPECT_THAT(error_message([&] { ForeignConfig::read(dir / "bad.json"); }), HasSubstr("bad.json"));
}

}  // namespace
}  // namespace heed::foreign_config_test
