// The list of tasks that are trained.
#include "heed/training/training_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_message.h"

namespace heed::training_task_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(TrainingTasks, AreFoundByTheirTask) {
  for (const auto& [task, name] : enum_names(Task{})) {
    const TrainingTask* const found = find_training_task(task);
    EXPECT_EQ(found != nullptr, task != Task::fill) << name;
    if (found == nullptr) continue;
    EXPECT_EQ(found->task, task) << name;
    EXPECT_NE(found->make, nullptr) << name;
    EXPECT_GE(found->max_sets, 1) << name;
  }
}

TEST(TrainingTasks, AreListed) {
  const std::string text = list_training_tasks("and");
  EXPECT_THAT(text, testing::StartsWith("translate, language, classify, embed"));
  EXPECT_THAT(text, Not(HasSubstr("(")));
  EXPECT_THAT(text, Not(HasSubstr("fill")));
  EXPECT_THAT(text, HasSubstr(" and "));
  EXPECT_THAT(list_training_tasks("or", true), HasSubstr("language (a language model), "));
}

TEST(TrainingTasks, DecideWhatAConfigMaySay) {
  TrainConfig config;
  EXPECT_EQ(config.smoothing(), 0.1);
  config.task = Task::classify;
  EXPECT_EQ(config.smoothing(), 0.0);
  config.label_smoothing = 0.3;
  EXPECT_EQ(config.smoothing(), 0.3);
  config.train_sets = {"a", "b"};
  EXPECT_THAT(error_message([&] { config.validate(); }), HasSubstr("this task has one file each"));
  config.task = Task::recognise;
  config.validate();
  config.task = Task::fill;
  EXPECT_THAT(error_message([&] { config.validate(); }),
              HasSubstr("task \"fill\": training has the tasks translate, language, "));
}

TEST(TrainingTasks, TheLongestTextIsTheShorterLimit) {
  TrainConfig config;
  EXPECT_EQ(longest_text(config, 12), 12);
  config.max_length = 7;
  EXPECT_EQ(longest_text(config, 12), 7);
  EXPECT_EQ(longest_text(config, 5), 5);
}

}  // namespace
}  // namespace heed::training_task_test
