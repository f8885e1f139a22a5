// Jobs from configs: all tasks and kinds of models with small files, what a checkpoint determines,
// and the messages for files and models that do not fit.
#include "heed/training/make_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/generation/model_folder.h"
#include "heed/io/file.h"
#include "heed/models/bag_of_words.h"
#include "heed/models/classifier.h"
#include "heed/models/language_model.h"
#include "heed/models/reformer.h"
#include "heed/models/reformer_translator.h"
#include "heed/models/transformer.h"
#include "heed/training/stream_settings.h"
#include "heed/training/trainer.h"
#include "heed/training/translation_job.h"
#include "tests/data/packed_corpus.h"
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
    transformer() = {
        .encoder_layers = 1, .decoder_layers = 1, .block = {.embed = 16, .heads = 2, .hidden = 20}};
    language_model().layers = 1;
    language_model().block.embed = 16;
    language_model().block.heads = 2;
    classifier().encoder.layers = 1;
    classifier().encoder.block.embed = 16;
    classifier().encoder.block.heads = 2;
    classifier().encoder.block.hidden = 20;
    config_.vocabulary = {.kind = VocabularyKind::words, .size = 0};
    config_.batch_tokens = 12;
  }
  TransformerConfig& transformer() { return config_.models.of<Transformer>(); }
  LanguageModelConfig& language_model() { return config_.models.of<LanguageModel>(); }
  ClassifierConfig& classifier() { return config_.models.of<Classifier>(); }
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

TEST_F(MakeJob, TranslatesFromAPackedCorpus) {
  const std::string packed = test::packed_corpus(dir_ / "c", 60).string();
  config_.train_sets = {packed};
  config_.shuffle_window = 30;
  MadeJob made = make();
  EXPECT_THAT(made.notes, ElementsAre(packed + ": 60 packed pairs, shuffled in 2 windows"));
  EXPECT_GT(made.job->next().counted, 0);
  EXPECT_GT(made.job->epoch_share(), 0.0);
  EXPECT_THAT(settings_text(made.job->stream_settings()), HasSubstr("shuffle_window=30, pairs=60"));
  // The model has the vocabularies of the corpus, so it goes on with it and with no other.
  std::filesystem::create_directory(dir_ / "model");
  made.job->save(dir_ / "model");
  config_.start_from = (dir_ / "model").string();
  EXPECT_GT(make().job->next().counted, 0);
  config_.train_sets = {test::packed_corpus(dir_ / "d", 61).string()};
  EXPECT_THAT(error(), HasSubstr("was packed with other vocabularies than those of the model"));
  config_.start_from = "";
  config_.max_length = 9;
  EXPECT_THAT(error(), HasSubstr("was packed with 0: pairs are selected when they are packed"));
  config_.max_length = 0;
  config_.max_ratio = 2.0;
  EXPECT_THAT(error(), HasSubstr("heed corpus pack --max-ratio=2"));
  config_.max_ratio = 0.0;
  config_.train_sets.push_back("more");
  EXPECT_THAT(error(), HasSubstr("which has both sides: give it alone"));
}

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
  const auto& model = dynamic_cast<const Transformer&>(job.translator().model());
  EXPECT_EQ(model.config().source_vocabulary, 4 + 6);
  EXPECT_EQ(model.config().padding, 3);
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

TEST_F(MakeJob, LabelsAreNoText) {
  use_labels();
  const TempDir folder;
  make().job->save(folder.path());
  const TextClassifier saved = load_text_classifier(folder.path());
  EXPECT_EQ(saved.tokenizer->size(), 4 + 5) << "bad, day, good, no, yes";
}

// Another kind of model is one key of the config; it learns the lines of a small file.
TEST_F(MakeJob, KindsOfOneTask) {
  use_labels();
  config_.kind = "bag_of_words";
  config_.models.of<BagOfWords>().embed = 8;
  config_.valid_sets = config_.train_sets;
  config_.trainer.schedule = {.kind = Schedule::constant, .peak = 0.05, .warmup = 1};
  config_.trainer.after = "60u";
  config_.trainer.valid_freq = config_.trainer.save_freq = "100u";  // only at the end
  const MadeJob made = make();
  test::expect_teaches(*made.job);
  made.job->model().zero_grad();
  EXPECT_EQ(dynamic_cast<const BagOfWords&>(made.job->model()).tokens.weight.in(), 8);
  const TempDir folder;
  Trainer(*made.job, config_.trainer, {.folder = folder.path()}).run();
  made.job->model().eval();
  EXPECT_EQ(test::value_of(made.job->validate(), "accuracy"), 100.0);
  const TextClassifier read = load_text_classifier(folder.path());
  EXPECT_EQ(read.model->choice().kind().name, "bag_of_words");
}

TEST_F(MakeJob, AKindOfAnotherTaskIsAnError) {
  use_labels();
  config_.kind = "language_model";
  EXPECT_THAT(error(),
              HasSubstr("\"language_model\" is for task \"language\", not for \"classify\""));
  config_.kind = "bag_of_wrods";
  EXPECT_THAT(error(), HasSubstr("did you mean \"bag_of_words\"?"));
}

// Hard attention learns by REINFORCE, in whatever place of a model.
TEST_F(MakeJob, AttentionThatSamplesLearns) {
  const auto expect_samples = [&](const char* place) {
    const MadeJob made = make();
    made.job->model().train();
    const BatchLoss loss = made.job->next();
    EXPECT_GT(loss.sampled.samples, 0) << place;
    EXPECT_LT(loss.sampled.reward, 0.0) << place;
    loss.sum.backward();
    const bool learns = loss.sampled.samples > 0 && made.job->state().baseline_updates == 1;
    EXPECT_TRUE(learns) << place;
  };
  use_pairs();
  const TransformerConfig plain = transformer();
  transformer().encoder_attention = "hard";
  expect_samples("encoder");
  transformer() = plain;
  transformer().decoder_attention = "hard";
  expect_samples("decoder");
  transformer() = plain;
  transformer().block.cross_attention = "hard";
  expect_samples("cross");
  config_.checkpoint_activations = true;
  EXPECT_THAT(error(), HasSubstr("leave checkpoint_activations out"));
  config_.checkpoint_activations = false;
  transformer().block.cross_attention = "gumbel";
  EXPECT_EQ(error(), "(no error)");
  config_.valid_sets.clear();
  use_text();
  language_model().block.attention = "hard";
  language_model().block.heads = LanguageModelConfig{}.block.heads;  // it has none
  expect_samples("language model");
  use_labels();
  classifier().encoder.block.attention = "hard";
  classifier().encoder.block.heads = ClassifierConfig{}.encoder.block.heads;
  expect_samples("classifier");
  config_.kind = "bag_of_words";
  EXPECT_EQ(make().job->next().sampled.samples, 0) << "sections of other kinds do not matter";
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

// References cut by subword-nmt are joined to whole words.
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

// The files have changed, but vocabulary and labels are those of the checkpoint.
TEST_F(MakeJob, ACheckpointDeterminesVocabularyAndLabels) {
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
  EXPECT_THAT(
      error_message([&] { make_job(config_, saved.path()); }),
      HasSubstr("holds a model for task \"translate\" (transformer), not for \"classify\""));
}

// For each task, a run in two parts, with dropout, ends with the same bits as a run in one part.
TEST_F(MakeJob, EveryTaskResumesToTheBit) {
  config_.trainer.schedule = {.kind = Schedule::constant, .peak = 0.01, .warmup = 1};
  config_.trainer.valid_freq = config_.trainer.save_freq = "100u";  // only at the end
  language_model().block.dropout = 0.1;
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
  const ReformerBlock small = {.embed = 16,
                               .heads = 2,
                               .dropout = 0.1,
                               .lsh = "lsh buckets=4 chunk=2 rounds=2 redraw=true",
                               .positions = "axial max_length=16"};
  use_pairs();
  check();
  config_.kind = "reformer_translator";
  config_.models.of<ReformerTranslator>() = {
      .encoder_layers = "lsh local", .decoder_layers = "local lsh", .block = small};
  check();
  config_.kind.clear();
  config_.valid_sets.clear();
  use_text();
  check();
  config_.kind = "reformer";  // draws hashes besides
  config_.aligned_blocks = true;
  config_.models.of<Reformer>() = {.layers = "lsh local lsh", .block = small};
  check();
  config_.kind.clear();
  use_labels();
  check();
  config_.kind = "bag_of_words";
  config_.models.of<BagOfWords>().dropout = 0.1;
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
