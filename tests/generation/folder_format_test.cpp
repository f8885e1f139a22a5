// The formats of folders: one for each task, and what they share.
#include "heed/generation/folder_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/config.h"
#include "tests/generation/tiny_text_model.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::folder_format_test {
namespace {

using testing::HasSubstr;

// The keys of a format as a config.
struct KeyList {
  std::unique_ptr<FolderKeys> keys;
  bool is_imported;
  void fields(io::Fields& field) { keys->fields(field, is_imported); }
};

std::vector<std::string> names_of(Task task, bool is_imported) {
  KeyList list{folder_format_of(task).keys(), is_imported};
  std::vector<std::string> names;
  for (const io::FieldInfo& field : io::Fields(list).list()) names.push_back(field.path);
  return names;
}

TEST(FolderFormat, EveryTaskHasOne) {
  for (const auto& [task, name] : enum_names(Task{})) {
    const FolderFormat& format = folder_format_of(task);
    EXPECT_EQ(format.task, task) << name;
    EXPECT_NE(format.keys()->clone(), nullptr) << name;
  }
}

TEST(FolderFormat, ImportedModelsHaveTheirTokenizerElsewhere) {
  EXPECT_THAT(names_of(Task::classify, false),
              testing::ElementsAre("tokenizer", "labels", "scoring", "frame"));
  EXPECT_THAT(names_of(Task::classify, true), testing::ElementsAre("labels"));
  EXPECT_THAT(names_of(Task::translate, true), testing::IsEmpty());
  EXPECT_EQ(folder_format_of(Task::recognise).import, nullptr);
}

TEST(FolderFormat, CopiesOfKeysAreTheirOwn) {
  KeyList list{folder_format_of(Task::classify).keys(), true};
  const std::unique_ptr<FolderKeys> copy = list.keys->clone();
  io::Fields(list).set("labels=a,b");
  EXPECT_THAT(list.keys->labels(), testing::ElementsAre("a", "b"));
  EXPECT_THAT(copy->labels(), testing::IsEmpty());
  EXPECT_THAT(folder_format_of(Task::language).keys()->labels(), testing::IsEmpty());
}

TEST(FolderFormat, OtherTasksAreRefused) {
  const TempDir dir;
  save_model(test::tiny_generator(), dir.path());
  EXPECT_THAT(error_message([&] { load_task(dir.path(), Task::fill, {}); }),
              HasSubstr("a model for task \"language\" (language_model), not for \"fill\""));
}

TEST(FolderFormat, VocabulariesMustFit) {
  const auto tokenizer = test::letters();
  check_vocabulary(tokenizer->size(), *tokenizer, "f");
  check_vocabulary(tokenizer->size() + 1, *tokenizer, "f", TextFrame::special);
  for (const std::int64_t size : {tokenizer->size() - 1, tokenizer->size() + 1}) {
    EXPECT_THAT(error_message([&] { check_vocabulary(size, *tokenizer, "f"); }),
                HasSubstr("[model] f: the model has a vocabulary of "));
  }
}

}  // namespace
}  // namespace heed::folder_format_test
