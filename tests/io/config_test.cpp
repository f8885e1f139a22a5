// Configs end to end: files of both formats, flags, and that a change is all or nothing.
#include "heed/io/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "heed/io/file.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::io::config_test {

enum class Schedule { constant, cosine, noam };
constexpr std::array<EnumName<Schedule>, 3> enum_names(Schedule) {
  return {
      {{Schedule::constant, "constant"}, {Schedule::cosine, "cosine"}, {Schedule::noam, "noam"}}};
}

namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Rate {
  float peak = 3e-4f;
  Schedule schedule = Schedule::noam;
  std::optional<int> warmup = 4000;

  void fields(Fields& field) {
    field("peak", peak, "the highest rate", {.min = 0});
    field("schedule", schedule, "how the rate changes");
    field("warmup", warmup, "updates until the peak");
  }
  friend bool operator==(const Rate&, const Rate&) = default;
};

struct Train {
  std::int64_t updates = 1000;
  std::uint64_t seed = 1;
  bool shuffle = true;
  double dropout = 0.1;
  std::string note = {};
  std::vector<std::string> vocabs = {};
  std::vector<int> sizes = {1, 2};
  Rate rate = {};

  void fields(Fields& field) {
    field("updates", updates, "number of updates", {.min = 1});
    field("seed", seed, "of all randomness");
    field("shuffle", shuffle, "mix the lines each epoch");
    field("dropout", dropout, "share of activations dropped", {.min = 0, .max = 1});
    field("note", note, "for people");
    field("vocabs", vocabs, "files");
    field("sizes", sizes, "of the layers", {.min = 1});
    field("rate", rate, "learning rate");
  }
  void validate() const {
    HEED_CHECK(rate.warmup.value_or(0) <= updates, "[train] warmup {} is beyond the {} updates",
               *rate.warmup, updates);
  }
  friend bool operator==(const Train&, const Train&) = default;
};

Train unusual() {
  Train t;
  t.updates = 7;
  t.seed = 0x7fffffffffffffff;
  t.shuffle = false;
  t.dropout = 1.0 / 3;
  t.note = "层 \"x\" \\ \n\t\x01\x7f # = [";
  t.vocabs = {"", "a,b"};
  t.sizes = {};
  t.rate = {0.1f, Schedule::cosine, std::nullopt};
  return t;
}

TEST(Config, RoundTripsThroughBothFormats) {
  for (const Train& original : {unusual(), [] {
                                  Train t;
                                  t.updates = 5000;
                                  return t;
                                }()}) {
    Train from_toml;
    load_toml(to_toml(original), from_toml);
    EXPECT_EQ(from_toml, original) << to_toml(original);
    Train from_json;
    load_json(to_json(original), from_json);
    EXPECT_EQ(from_json, original) << to_json(original);
  }
}

TEST(Config, RoundTripsThroughFiles) {
  const TempDir dir;
  for (const char* name : {"a.toml", "a.json"}) {
    save_config(dir / name, unusual());
    Train back;
    load_config(dir / name, back);
    EXPECT_EQ(back, unusual());
  }
  EXPECT_THAT(error_message([&] { save_config(dir / "a.yaml", unusual()); }),
              HasSubstr("must end in .toml or .json"));
  Train train;
  EXPECT_THAT(error_message([&] { load_config(dir / "a.yaml", train); }),
              HasSubstr("must end in .toml or .json"));
  EXPECT_THAT(error_message([&] { load_config(dir / "none.toml", train); }),
              HasSubstr("No such file"));
}

TEST(Config, FileErrorsNameFileLineAndRemedy) {
  const TempDir dir;
  const auto error = [&](const char* name, std::string_view text) {
    write_file(dir / name, text);
    Train train;
    const std::string message = error_message([&] { load_config(dir / name, train); });
    EXPECT_EQ(train, Train()) << "nothing changes unless all is right";
    return message;
  };
  const std::string toml = (dir / "a.toml").string();
  const std::string json = (dir / "a.json").string();
  EXPECT_EQ(error("a.toml", "updates = 5000\nsed = 3\n"),
            "[config] " + toml + ":2:1: unknown key \"sed\": did you mean \"seed\"?");
  EXPECT_EQ(error("a.toml", "updates = 5000\n[rate]\nschedule = \"cosin\"\n"),
            "[config] " + toml +
                ":3:1: rate.schedule is \"cosin\": it must be one of constant, cosine, noam; did "
                "you mean cosine?");
  EXPECT_EQ(error("a.toml", "updates = \"many\"\n"),
            "[config] " + toml + ":1:1: updates must be an integer, found the string \"many\"");
  EXPECT_EQ(error("a.json", "{\"updates\": 5000,\n \"rate\": {\"peak\": -1}}"),
            "[config] " + json + ":2:11: rate.peak is -1: it must be at least 0");
  EXPECT_THAT(error("a.toml", "updates = 5000\nseed = 3\nseed = 4\n"),
              HasSubstr("[toml] " + toml + ":3:"));
  EXPECT_THAT(error("a.json", "{\"seed\": 3, \"seed\": 3}"),
              AllOf(HasSubstr(json + ":1:13"), HasSubstr("appears twice")));
  EXPECT_THAT(error("a.toml", "seed = 3\nupdates ="), HasSubstr("[toml] " + toml + ":2:"));
  EXPECT_THAT(error("a.toml", "sizes = [1, 0]"), HasSubstr("sizes[1] is 0"));
  EXPECT_EQ(error("a.toml", "updates = 3999\n"),
            "[config] " + toml + ": [train] warmup 4000 is beyond the 3999 updates");
}

TEST(Config, TextsWithoutAFileHaveANameToo) {
  Train train;
  EXPECT_THAT(error_message([&] { load_toml("x = 1", train); }), HasSubstr("TOML:1:1"));
  EXPECT_THAT(error_message([&] { load_json("{\"x\": 1}", train, "request"); }),
              HasSubstr("request:1:2"));
}

TEST(Config, LoadsOverPresentValues) {
  Train train = unusual();
  load_toml("note = 'new'", train);
  EXPECT_EQ(train.note, "new");
  EXPECT_EQ(train.seed, unusual().seed);
  load_toml("", train);
  load_json("{}", train);
  EXPECT_EQ(train.note, "new");
}

TEST(Config, FlagsAreSetTogetherOrNotAtAll) {
  Train train;
  set_fields(train, {"updates=10", "rate.warmup=none", "vocabs=a.spm,b.spm", "sizes=[3]"});
  EXPECT_EQ(train.updates, 10);
  EXPECT_EQ(train.rate.warmup, std::nullopt);
  EXPECT_THAT(train.vocabs, testing::ElementsAre("a.spm", "b.spm"));

  const Train before = train;
  EXPECT_THAT(error_message([&] {
                set_fields(train, {"seed=4", "dropout=2"});
              }),
              HasSubstr("dropout is 2: it must be from 0 to 1"));
  EXPECT_EQ(train, before);
  EXPECT_THAT(error_message([&] { set_fields(train, {"rate.warmup=11"}); }),
              HasSubstr("[config] flags: [train] warmup 11"));
  EXPECT_EQ(train, before);
  // Only the whole must fit: the first of these alone would not.
  EXPECT_EQ(error_message([&] {
              set_fields(train, {"rate.warmup=11", "updates=12"});
            }),
            "(no error)");
}

TEST(Config, ListsDefaultsForHelp) {
  const std::vector<FieldInfo> all = list_fields(Train());
  ASSERT_EQ(all.size(), 10u);
  EXPECT_EQ(all[6].value, "[1, 2]");
  EXPECT_EQ(all[6].type, "list of integer, at least 1");
  EXPECT_EQ(all[8].path, "rate.schedule");
  EXPECT_EQ(all[8].type, "constant|cosine|noam");
  EXPECT_EQ(all[8].value, "\"noam\"");
  EXPECT_EQ(all[9].type, "integer or none");
}

TEST(Config, AConfigFileHasABound) {
  Train train;
  const TempDir dir;
  write_file(dir / "big.toml", std::string((16u << 20) + 1, '#'));
  EXPECT_THAT(error_message([&] { load_config(dir / "big.toml", train); }),
              HasSubstr("larger than"));
  constexpr std::size_t kMost = std::size_t{16} << 20;
  for (const char* const name : {"written.toml", "written.json"}) {
    train.vocabs = {std::string(kMost - 4096, 'x')};
    save_config(dir / name, train);
    EXPECT_LE(std::filesystem::file_size(dir / name), kMost);
    train.vocabs = {std::string(kMost, 'x')};
    EXPECT_THAT(error_message([&] { save_config(dir / name, train); }),
                HasSubstr("at most 16777216 can be read"));
  }
}

TEST(Config, LimitsAreCheckedWithoutAText) {
  EXPECT_NO_THROW(check_limits(Train{}, "train"));
  EXPECT_EQ(error_message([] { check_limits(Train{.updates = 0}, "train"); }),
            "[config] train: updates is 0: it must be at least 1");
  EXPECT_EQ(error_message([] { check_limits(Train{.dropout = 1.5}, "train"); }),
            "[config] train: dropout is 1.5: it must be from 0 to 1");
  EXPECT_EQ(error_message([] { check_limits(Train{.dropout = 0.0 / 0.0}, "train"); }),
            "[config] train: dropout is not a finite number: it must be from 0 to 1");
  EXPECT_EQ(error_message([] {
              check_limits(Train{.sizes = {3, 0}}, "train");
            }),
            "[config] train: sizes[1] is 0: it must be at least 1");
  EXPECT_EQ(error_message([] { check_limits(Train{.rate = {.peak = -1.0f}}, "train"); }),
            "[config] train: rate.peak is -1: it must be at least 0");
  EXPECT_NO_THROW(check_limits(Train{.seed = ~std::uint64_t{0}}, "train")) << "it has no limits";
}

}  // namespace
}  // namespace heed::io::config_test
