// Going on from a trained model: all parameters, some of them, or adapters; also after a stop.
#include "heed/training/fine_tuning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/generation/model_folder.h"
#include "heed/io/file.h"
#include "heed/models/language_model.h"
#include "heed/tensor/create.h"
#include "heed/training/make_job.h"
#include "heed/training/run.h"
#include "tests/generation/tiny_text_model.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"
#include "tests/support/temp_dir.h"

namespace heed::fine_tuning_test {
namespace {

using testing::HasSubstr;

class FineTuning : public testing::Test {
 protected:
  FineTuning() {
    std::filesystem::create_directory(dir_ / "start");
    save_model(test::tiny_generator(), dir_ / "start");
    io::write_file(dir_ / "text", "abc cab bca\naa bb cc\nabcabcabc\ncba cba\nab ab ab ab\n");
    config_.task = Task::language;
    config_.start_from = (dir_ / "start").string();
    config_.train_sets = {(dir_ / "text").string()};
    config_.block_length = 6;
    config_.batch_sentences = 2;
    config_.valid_share = 0.0;
    config_.trainer.after = "6u";
    config_.trainer.save_freq = "3u";
    config_.trainer.schedule.peak = 0.01;
    config_.trainer.schedule.kind = Schedule::constant;
    config_.trainer.schedule.warmup = 0;
  }
  void train(const std::string& folder, const std::string& after, bool resume = false) {
    config_.model = (dir_ / folder).string();
    config_.trainer.after = after;
    run_training({.config = config_, .resume = resume});
  }
  std::vector<NamedTensor> parameters(const std::string& folder) const {
    return load_text_generator(dir_ / folder).model->named_parameters();
  }
  TempDir dir_;
  TrainConfig config_;
};

TEST_F(FineTuning, GoesOnFromTheModel) {
  const MadeJob made = make_job(config_, std::nullopt);
  const auto before = parameters("start"), now = made.job->model().named_parameters();
  ASSERT_EQ(before.size(), now.size());
  for (std::size_t i = 0; i < now.size(); ++i) {
    EXPECT_TRUE(test::same_bits(before[i].tensor, now[i].tensor)) << now[i].name;
    EXPECT_TRUE(now[i].tensor.tracks_grad()) << now[i].name;
  }
}

TEST_F(FineTuning, FrozenParametersStay) {
  config_.freeze = {"tokens.*"};
  train("out", "6u");
  const auto before = parameters("start"), after = parameters("out");
  int changed = 0;
  for (std::size_t i = 0; i < after.size(); ++i) {
    const bool same = test::same_bits(before[i].tensor, after[i].tensor);
    if (after[i].name.starts_with("tokens.")) {
      EXPECT_TRUE(same) << after[i].name;
    }
    changed += same ? 0 : 1;
  }
  EXPECT_GT(changed, 0);
}

TEST_F(FineTuning, AdaptersAreSavedAndMerged) {
  config_.lora = {.rank = 2, .targets = {"*attn*", "*linear*"}};
  train("out", "6u");
  TextGenerator generator = load_text_generator(dir_ / "out");
  EXPECT_EQ(generator.model->lora().rank, 2);
  for (const NamedTensor& parameter : parameters("start")) {
    for (const NamedTensor& now : generator.model->named_parameters()) {
      if (now.name == parameter.name) {
        EXPECT_TRUE(test::same_bits(now.tensor, parameter.tensor)) << now.name;
      }
    }
  }
  const Tensor ids = from_values<std::int64_t>({4, 5, 6, 4}, {1, 4});
  const Tensor adapted = (*generator.model)(ids);
  EXPECT_GT(test::max_relative_error(adapted, (*load_text_generator(dir_ / "start").model)(ids)),
            1e-3);
  generator.model->merge_adapters();
  std::filesystem::create_directory(dir_ / "merged");
  save_model(generator, dir_ / "merged");
  const TextGenerator merged = load_text_generator(dir_ / "merged");
  EXPECT_EQ(merged.model->lora().rank, 0);
  EXPECT_LE(test::max_relative_error((*merged.model)(ids), adapted), 1e-5);
}

TEST_F(FineTuning, ResumesToTheBit) {
  for (const std::int64_t rank : {0, 2}) {
    config_.lora.rank = rank;
    config_.freeze = rank == 0 ? std::vector<std::string>{"*.norm1.*"} : std::vector<std::string>{};
    const std::string name = std::to_string(rank);
    train("whole" + name, "6u");
    train("parts" + name, "3u");
    std::filesystem::remove_all(dir_ / "start");  // no longer needed
    train("parts" + name, "6u", true);
    std::filesystem::create_directory(dir_ / "start");
    save_model(test::tiny_generator(), dir_ / "start");
    const auto whole = parameters("whole" + name), parts = parameters("parts" + name);
    ASSERT_EQ(whole.size(), parts.size());
    for (std::size_t i = 0; i < whole.size(); ++i) {
      EXPECT_TRUE(test::same_bits(whole[i].tensor, parts[i].tensor)) << whole[i].name;
    }
  }
}

TEST_F(FineTuning, SaysWhatIsWrong) {
  const auto error = [&] { return error_message([&] { make_job(config_, std::nullopt); }); };
  config_.freeze = {"nothing"};
  EXPECT_THAT(error(), HasSubstr("no parameter matches \"nothing\""));
  config_.freeze = {};
  config_.vocabs = {"x"};
  EXPECT_THAT(error(), HasSubstr("leave vocabs out"));
  config_.vocabs = {};
  config_.task = Task::classify;
  io::write_file(dir_ / "text", "a\tabc\n");
  EXPECT_THAT(error(), HasSubstr("holds a model for task \"language\""));
  config_.start_from = "";
  config_.lora.rank = 2;
  EXPECT_THAT(error(), HasSubstr("name one with start_from"));
}

}  // namespace
}  // namespace heed::fine_tuning_test
