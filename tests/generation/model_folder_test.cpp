// Model folders: the names of tokenizer files, and what tells one kind from another.
#include "heed/generation/model_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/file.h"
#include "tests/generation/tiny_translator.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed {
namespace {

using testing::HasSubstr;

TEST(ModelFolder, WritesATokenizerThatReadsBack) {
  const TempDir dir;
  for (const auto& tokenizer : {test::letters(), test::words("a dog runs")}) {
    for (const std::string prefix : {"", "source_"}) {
      const std::string name = write_tokenizer(*tokenizer, dir.path(), prefix);
      EXPECT_TRUE(name.starts_with(prefix));
      const auto read = load_tokenizer(dir / name);
      EXPECT_EQ(read->kind(), tokenizer->kind());
      EXPECT_EQ(read->encode("a dog"), tokenizer->encode("a dog"));
    }
  }
}

TEST(ModelFolder, TellsItsKind) {
  const TempDir dir;
  io::write_file(dir / "config.json", R"({"kind": "translator", "more": 1})");
  EXPECT_EQ(kind_of_model(dir.path()), "translator");
  check_kind(dir.path(), "translator");
  EXPECT_THAT(error_message([&] { check_kind(dir.path(), "classifier"); }),
              HasSubstr("holds a translator, not a classifier"));
}

TEST(ModelFolder, IsFoundInATrainingRun) {
  const TempDir dir;
  EXPECT_EQ(find_model(dir.path()), dir.path());
  const auto add = [&](const char* name) {
    std::filesystem::create_directory(dir / name);
    io::write_file(dir / name / "config.json", "{}");
  };
  add("checkpoint_last");
  EXPECT_EQ(find_model(dir.path()), dir / "checkpoint_last");
  add("checkpoint_best");
  EXPECT_EQ(find_model(dir.path()), dir / "checkpoint_best");
  io::write_file(dir / "config.json", "{}");
  EXPECT_EQ(find_model(dir.path()), dir.path());
}

TEST(ModelFolder, SaysWhatIsNotOne) {
  const TempDir dir;
  EXPECT_THAT(error_message([&] { kind_of_model(dir.path()); }), HasSubstr("has no config.json"));
  for (const char* const text : {"[]", "{}", R"({"kind": 3})", R"({"model_type": "bert"})"}) {
    io::write_file(dir / "config.json", text);
    EXPECT_THAT(error_message([&] { kind_of_model(dir.path()); }), HasSubstr("no \"kind\""))
        << text;
  }
  io::write_file(dir / "config.json", "{");
  EXPECT_THAT(error_message([&] { kind_of_model(dir.path()); }), HasSubstr("config.json"));
}

}  // namespace
}  // namespace heed
