// The field visitor: unknown keys, sections, assignments, listing.
#include "heed/io/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "heed/io/json.h"
#include "tests/support/error_message.h"

namespace heed::io::fields_test {
namespace {

using testing::HasSubstr;

struct Adam {
  double beta1 = 0.9;
  double epsilon = 1e-8;

  void fields(Fields& field) {
    field("beta1", beta1, "decay of the mean", {.min = 0, .max = 1});
    field("epsilon", epsilon, "");
  }
  void validate() const { HEED_CHECK(beta1 != 0.5, "beta1 must not be one half"); }
};

struct Train {
  int batch_size = 32;
  Adam adam;
  std::string model_dir = "out";

  void fields(Fields& field) {
    field("batch_size", batch_size, "sentences", {.min = 1});
    field("adam", adam, "the optimiser");
    field("model_dir", model_dir, "where to");
  }
};

std::string read_error(std::string_view text) {
  Train train;
  return error_message([&] { Fields(train).read(parse_json(text, "t.json"), "t.json"); });
}

std::string set_error(std::string_view assignment) {
  Train train;
  return error_message([&] { Fields(train).set(assignment); });
}

TEST(Fields, ReadOnlyWhatIsNamed) {
  Train train;
  Fields(train).read(parse_json(R"({"adam": {"beta1": 0.8}})", ""), "");
  EXPECT_EQ(train.adam.beta1, 0.8);
  EXPECT_EQ(train.adam.epsilon, 1e-8);
  EXPECT_EQ(train.batch_size, 32);
}

TEST(Fields, UnknownKeysNameTheNearest) {
  EXPECT_EQ(read_error("{\n \"bacth_size\": 3}"),
            "[config] t.json:2:2: unknown key \"bacth_size\": did you mean \"batch_size\"?");
  EXPECT_EQ(read_error(R"({"adam": {"bta1": 3}})"),
            "[config] t.json:1:11: unknown key \"adam.bta1\": did you mean \"adam.beta1\"?");
  EXPECT_THAT(read_error(R"({"epsilon": 3})"), HasSubstr("did you mean \"adam.epsilon\"?"))
      << "the right key in the wrong place";
  EXPECT_THAT(read_error(R"({"quux": 3})"),
              HasSubstr("the keys here are batch_size, adam, model_dir"));
}

TEST(Fields, WrongTypesNamePathAndPlace) {
  EXPECT_EQ(read_error(R"({"adam": {"beta1": "x"}})"),
            "[config] t.json:1:11: adam.beta1 must be a number, found the string \"x\"");
  EXPECT_EQ(read_error(R"({"adam": 3})"),
            "[config] t.json:1:2: adam must be a table, found the integer 3");
  EXPECT_EQ(read_error("[]"), "[config] t.json:1:1: a config must be a table, found a list");
  EXPECT_EQ(read_error(R"({"adam": {"beta1": 2}})"),
            "[config] t.json:1:11: adam.beta1 is 2: it must be from 0 to 1");
}

TEST(Fields, SetOneByPath) {
  Train train;
  Fields fields(train);
  fields.set("batch_size=7");
  fields.set("adam.beta1=0.25");
  fields.set("model-dir=a=b");
  EXPECT_EQ(train.batch_size, 7);
  EXPECT_EQ(train.adam.beta1, 0.25);
  EXPECT_EQ(train.model_dir, "a=b");
}

TEST(Fields, SetRefusesWhatItDoesNotKnow) {
  EXPECT_EQ(set_error("batch_size"), "[config] \"batch_size\": expected key=value");
  EXPECT_EQ(set_error("batchsize=3"),
            "[config] \"batchsize=3\": unknown key \"batchsize\": did you mean \"batch_size\"?");
  EXPECT_THAT(set_error("adam.beta=3"), HasSubstr("did you mean \"adam.beta1\"?"));
  EXPECT_EQ(set_error("adam=3"),
            "[config] \"adam=3\": adam is a section: set its members, such as adam.beta1");
  EXPECT_EQ(set_error("batch_size.x=3"),
            "[config] \"batch_size.x=3\": batch_size is not a section");
  EXPECT_EQ(set_error("batch_size=0"),
            "[config] \"batch_size=0\": batch_size is 0: it must be at least 1");
  EXPECT_THAT(set_error("=3"), HasSubstr("unknown key \"\""));
  EXPECT_THAT(set_error(".=3"), HasSubstr("unknown key \"\""));
}

TEST(Fields, ValidateReachesSections) {
  Train train;
  train.adam.beta1 = 0.5;
  EXPECT_EQ(error_message([&] { Fields(train).validate("t.json"); }),
            "[config] t.json: beta1 must not be one half");
}

TEST(Fields, WriteKeepsTheOrder) {
  Train train;
  EXPECT_EQ(write_json(Fields(train).write(), false),
            R"({"batch_size":32,"adam":{"beta1":0.9,"epsilon":1e-08},"model_dir":"out"})");
}

TEST(Fields, TomlPutsSectionsLast) {
  Train train;
  EXPECT_EQ(Fields(train).write_toml(), R"(batch_size = 32  # sentences
model_dir = "out"  # where to

[adam]  # the optimiser
beta1 = 0.9  # decay of the mean
epsilon = 1e-08
)");
}

TEST(Fields, WritingNamesTheMemberAtFault) {
  Train train;
  train.adam.epsilon = INFINITY;
  EXPECT_EQ(error_message([&] { Fields(train).write_toml(); }),
            "[config] adam.epsilon: inf cannot be written: numbers in a config are finite");
}

TEST(Fields, ListForHelp) {
  Train train;
  const std::vector<FieldInfo> all = Fields(train).list();
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].path, "batch_size");
  EXPECT_EQ(all[0].type, "integer, at least 1");
  EXPECT_EQ(all[0].value, "32");
  EXPECT_EQ(all[0].help, "sentences");
  EXPECT_EQ(all[1].path, "adam.beta1");
  EXPECT_EQ(all[1].type, "number, from 0 to 1");
  EXPECT_EQ(all[3].value, "\"out\"");
}

struct TwiceTheSameKey {
  int a = 0;
  int b = 0;
  void fields(Fields& field) {
    field("a", a, "");
    field("a", b, "");
  }
};

struct BadKey {
  int a = 0;
  void fields(Fields& field) { field("not bare", a, ""); }
};

struct EmptySection {
  struct Nothing {
    void fields(Fields&) {}
  };
  Nothing nothing;
  void fields(Fields& field) { field("nothing", nothing, ""); }
};

struct HelpOfTwoLines {
  int a = 0;
  void fields(Fields& field) { field("a", a, "one\ntwo"); }
};

TEST(Fields, MistakesInTheStructAreOurs) {
  TwiceTheSameKey twice;
  EXPECT_THROW(Fields{twice}, InternalError);
  BadKey bad;
  EXPECT_THROW(Fields{bad}, InternalError);
  EmptySection empty;
  EXPECT_THROW(Fields{empty}, InternalError);
  HelpOfTwoLines two_lines;
  EXPECT_THROW(Fields{two_lines}, InternalError);
}

}  // namespace
}  // namespace heed::io::fields_test
