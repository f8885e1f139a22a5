// Jobs from configs: all three tasks with small files, what a checkpoint brings along, and what is
// said of files that will not do.
#include "heed/training/make_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/generation/translator.h"
#include "heed/io/file.h"
#include "heed/training/trainer.h"
#include "heed/training/translation_job.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"
#include "tests/training/job_case.h"

namespace heed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class MakeJob : public testing::Test {
 protected:
  MakeJob() {
    config_.transformer = {
        .embed = 16, .heads = 2, .hidden = 20, .encoder_layers = 1, .decoder_layers = 1};
    config_.language_model = {.embed = 16, .heads = 2, .layers = 1};
    config_.classifier = {.embed = 16, .heads = 2, .hidden = 20, .layers = 1};
    config_.vocabulary = {.kind = VocabularyKind::words, .size = 0};
    config_.batch_tokens = 12;
  }
  std::string file(const std::string& name, const std::string& text) {
    io::write_file(dir_ / name, text);
    return (dir_ / name).string();
  }
  void use_pairs() {
    config_.train_sets = {file("s", "a b c\nb c\nc a b a\nb\nc c\n"),
                          file("t", "x y\ny z z\nz\ny y\nx z\n")};
    config_.valid_sets = {file("vs", "a b\nc\n"), file("vt", "x\nz y\n")};
  }
  void use_text() {
    config_.task = Task::language;
    config_.vocabulary.kind = VocabularyKind::characters;
    config_.block_length = 6;
    config_.train_sets = {file("text", "one two three\nfour five\nsix seven eight nine ten\n")};
  }
  void use_labels() {
    config_.task = Task::classify;
    config_.train_sets = {file("labels", "sad\tbad day\nglad\tgood day\nsad\tno\nglad\tyes yes\n")};
    config_.valid_sets = {file("valid", "glad\tgood\n")};
  }
  MadeJob make() { return make_job(config_, std::nullopt); }
  std::string error() {
    return error_message([&] { make(); });
  }
  TempDir dir_;
  TrainConfig config_;
};

TEST_F(MakeJob, TranslatesByDefault) {
  use_pairs();
  config_.validation.metrics = {"loss", "bleu"};
  const MadeJob made = make();
  test::expect_teaches(*made.job);
  made.job->model().eval();
  const auto judgements = made.job->validate();
  ASSERT_EQ(judgements.size(), 2u);
  EXPECT_EQ(judgements[1].name, "bleu");
  EXPECT_THAT(made.notes[0], HasSubstr("5 pairs"));
  const auto& job = dynamic_cast<const TranslationJob&>(*made.job);
  EXPECT_EQ(job.translator().model().config().source_vocabulary, 4 + 6);
  EXPECT_EQ(job.translator().model().config().padding, 3);
}

TEST_F(MakeJob, LanguageModels) {
  use_text();
  const MadeJob made = make();
  test::expect_teaches(*made.job);
  EXPECT_EQ(made.job->validate().size(), 2u) << "a share of the text";
  config_.valid_sets = {file("more", "eleven twelve\n")};
  EXPECT_EQ(make().job->validate().size(), 2u);
}

TEST_F(MakeJob, Classifiers) {
  use_labels();
  const MadeJob made = make();
  test::expect_teaches(*made.job);
  EXPECT_EQ(made.job->validate()[1].name, "accuracy");
  EXPECT_THAT(made.notes, ElementsAre(HasSubstr("4 texts of 2 classes")));
}

TEST_F(MakeJob, TheSeedMakesTheModel) {
  use_pairs();
  const auto first_loss = [&] {
    const MadeJob made = make();
    made.job->model().eval();
    return made.job->next().sum.item();
  };
  const double loss = first_loss();
  EXPECT_EQ(first_loss(), loss);
  config_.trainer.seed = 2;
  EXPECT_NE(first_loss(), loss);
}

TEST_F(MakeJob, LengthsFilterTheTrainingSetAlone) {
  use_pairs();
  config_.max_length = 1;
  config_.train_sets = {file("s", "a b c\nb\nc\n"), file("t", "x\ny\nz z\n")};
  const MadeJob made = make();
  EXPECT_THAT(made.notes, ElementsAre(HasSubstr("1 pair"), HasSubstr("2 pairs")));
}

// What subword-nmt has cut is compared with whole words.
TEST_F(MakeJob, ReferencesAreWholeWords) {
  use_pairs();
  config_.train_sets = {file("s", "a b\nb a\n"), file("t", "x@@ y\ny\n")};
  config_.valid_sets = {file("vs", "a b\n"), file("vt", "x@@ y\n")};
  config_.validation.metrics = {"loss", "chrf"};
  const MadeJob cut = make();
  config_.validation.references = {file("whole", "xy\n")};
  const MadeJob whole = make();
  cut.job->model().eval();
  whole.job->model().eval();
  EXPECT_EQ(test::value_of(cut.job->validate(), "chrf"),
            test::value_of(whole.job->validate(), "chrf"));
  config_.validation.references = {file("whole", "xy\nz\n")};
  EXPECT_THAT(error(), HasSubstr("has 2 lines, the validation set 1"));
}

// The files have changed, or are no longer what vocabularies were made of: the checkpoint's stay.
TEST_F(MakeJob, ACheckpointBringsVocabularyAndLabels) {
  use_pairs();
  const TempDir saved;
  make().job->save(saved.path());
  config_.train_sets = {file("s", "q r s t\nu v\n"), file("t", "q\nr\n")};
  const MadeJob again = make_job(config_, saved.path());
  const auto& job = dynamic_cast<const TranslationJob&>(*again.job);
  EXPECT_EQ(job.translator().source()->size(), 4 + 6);

  const TempDir labels;
  use_labels();
  make().job->save(labels.path());
  config_.train_sets = {file("labels", "sad\tbad day\n")};
  const MadeJob classifier = make_job(config_, labels.path());
  EXPECT_THAT(classifier.notes[0], HasSubstr("1 texts of 2 classes"));
  EXPECT_THAT(error_message([&] { make_job(config_, saved.path()); }),
              HasSubstr("holds a translator, not a classifier"));
}

// All three tasks: a run in two parts, dropout included, ends where one in a single part does.
TEST_F(MakeJob, EveryTaskResumesToTheBit) {
  config_.trainer.schedule = {.kind = Schedule::constant, .peak = 0.01, .warmup = 1};
  config_.trainer.valid_freq = config_.trainer.save_freq = "100u";  // at the end alone
  config_.language_model.dropout = 0.1;
  const auto train = [&](const TempDir& folder, const std::string& after) {
    config_.trainer.after = after;
    const auto newest = Checkpoints(folder.path(), 0).last();
    const MadeJob made = make_job(config_, newest);
    Trainer trainer(*made.job, config_.trainer, {.folder = folder.path()});
    EXPECT_EQ(trainer.resume(), newest.has_value());
    trainer.run();
    return io::read_file(folder.path() / "checkpoint_last" / "model.safetensors", 1 << 24) +
           io::read_file(folder.path() / "checkpoint_last" / "optimizer.safetensors", 1 << 24);
  };
  const auto check = [&] {
    const TempDir straight, stopped;
    const std::string expected = train(straight, "9u");
    EXPECT_NE(train(stopped, "4u"), expected);
    EXPECT_EQ(train(stopped, "9u"), expected);
  };
  use_pairs();
  check();
  config_.valid_sets.clear();
  use_text();
  check();
  use_labels();
  check();
}

TEST_F(MakeJob, SaysWhatIsMissing) {
  EXPECT_THAT(error(), HasSubstr("nothing to train on: give train_sets"));
  config_.train_sets = {(dir_ / "none").string(), (dir_ / "nothing").string()};
  EXPECT_THAT(error(), HasSubstr("none"));
  config_.vocabulary.kind = VocabularyKind::characters;
  config_.train_sets = {file("s", ""), file("t", "")};
  EXPECT_THAT(error(), HasSubstr("no pair of sentences is left"));
  config_.task = Task::language;
  config_.train_sets = {file("text", "abc\n")};
  EXPECT_THAT(error(), HasSubstr("give more text or lower block_length"));
  config_.task = Task::classify;
  config_.train_sets = {file("labels", "")};
  EXPECT_THAT(error(), HasSubstr("there is no text in it"));
}

TEST_F(MakeJob, UnequalFilesAreBad) {
  use_pairs();
  config_.train_sets[1] = file("t", "x y\ny z z\n");
  EXPECT_THAT(error(), HasSubstr("t"));
  EXPECT_THAT(error(), testing::Not(HasSubstr("(no error)")));
}

}  // namespace
}  // namespace heed
