// The config of a training run: TOML, flags, names that are nearly right, and what cannot be.
#include "heed/training/train_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/config.h"
#include "heed/models/bag_of_words.h"
#include "heed/models/classifier.h"
#include "heed/models/language_model.h"
#include "heed/models/transformer.h"
#include "tests/support/error_message.h"
#include "tests/support/paths.h"

namespace heed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TrainConfig read(const std::string& toml) {
  TrainConfig config;
  io::load_toml(toml, config, "train.toml");
  return config;
}

std::string error_of(const std::string& toml) {
  return error_message([&] { read(toml); });
}

TEST(TrainConfig, ReadsToml) {
  const TrainConfig config = read(R"(
task = "translate"
train_sets = ["a.en", "a.de"]
after = "5Ku"
batch_tokens = 2000
[vocabulary]
kind = "words"
shared = false
[validation]
metrics = ["loss", "bleu"]
tokenizer = "none"
search.beam_size = 3
[optimizer]
beta2 = 0.9
[schedule]
peak = 0.01
[transformer]
embed = 64
tied = "two"
)");
  EXPECT_THAT(config.train_sets, ElementsAre("a.en", "a.de"));
  EXPECT_EQ(config.trainer.after, "5Ku");
  EXPECT_EQ(config.batch_tokens, 2000);
  EXPECT_EQ(config.vocabulary.kind, VocabularyKind::words);
  EXPECT_FALSE(config.vocabulary.shared);
  EXPECT_THAT(config.validation.metrics, ElementsAre("loss", "bleu"));
  EXPECT_EQ(config.validation.tokenizer, evaluation::BleuTokenizer::none);
  EXPECT_EQ(config.validation.search.beam_size, 3);
  EXPECT_EQ(config.trainer.optimizer.beta2, 0.9);
  EXPECT_EQ(config.trainer.schedule.peak, 0.01);
  EXPECT_EQ(config.models.of<Transformer>().block.embed, 64);
  EXPECT_EQ(config.models.of<Transformer>().tied, Tied::two);
  EXPECT_EQ(config.model_kind().name, "transformer");
}

TEST(TrainConfig, ReadsThoseOfTheProject) {
  std::int64_t read = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::project_path("configs"))) {
    TrainConfig config;
    EXPECT_EQ(error_message([&] { io::load_config(entry.path(), config); }), "(no error)");
    EXPECT_NE(config.trainer.after, "0") << entry.path() << " has no end";
    ++read;
  }
  EXPECT_GT(read, 0);
}

TEST(TrainConfig, WhatItWritesReadsBack) {
  TrainConfig config = read("task = \"classify\"\n[classifier]\nlayers = 7\n");
  io::set_fields(config, {"train_sets=a.tsv", "seed=12"});
  const std::string text = io::to_toml(config);
  EXPECT_EQ(io::to_toml(read(text)), text);
  EXPECT_EQ(read(text).models.of<Classifier>().encoder.layers, 7);
  EXPECT_EQ(read(text).trainer.seed, 12u);
}

TEST(TrainConfig, HasASectionForEveryKindOfModel) {
  const std::string text = io::to_toml(TrainConfig{});
  for (const ModelKind& kind : model_kinds()) {
    EXPECT_THAT(text, HasSubstr(fmt::format("[{}]", kind.name)));
    EXPECT_EQ(&TrainConfig{}.models.at(kind).kind(), &kind);
  }
  const TrainConfig config = read("[bag_of_words]\nembed = 9\n[language_model]\nlayers = 3\n");
  EXPECT_EQ(config.models.of<BagOfWords>().embed, 9);
  EXPECT_EQ(config.models.of<LanguageModel>().layers, 3);
  TrainConfig copy = config;
  copy.models.of<BagOfWords>().embed = 10;
  EXPECT_EQ(config.models.of<BagOfWords>().embed, 9) << "a copy has sections of its own";
}

TEST(TrainConfig, TheKindMustFitTheTask) {
  EXPECT_EQ(read("task = \"classify\"").model_kind().name, "classifier");
  EXPECT_EQ(read("task = \"classify\"\nkind = \"bag_of_words\"").model_kind().name, "bag_of_words");
  EXPECT_THAT(error_of("kind = \"bag_of_words\""),
              HasSubstr("kind \"bag_of_words\" is for task \"classify\", not for \"translate\""));
  EXPECT_THAT(error_of("task = \"classify\"\nkind = \"bag_of_word\""),
              HasSubstr("did you mean \"bag_of_words\"?"));
}

TEST(TrainConfig, NamesTheNearestKey) {
  EXPECT_THAT(error_of("batch_token = 3"), HasSubstr("batch_tokens"));
  EXPECT_THAT(error_of("[transformer]\nembd = 3"), HasSubstr("embed"));
  EXPECT_THAT(error_of("task = \"translat\""), HasSubstr("translate"));
  TrainConfig config;
  EXPECT_THAT(error_message([&] { io::set_fields(config, {"schedule.peek=1"}); }),
              HasSubstr("schedule.peak"));
}

TEST(TrainConfig, RefusesWhatCannotBe) {
  EXPECT_THAT(error_of("vocabs = [\"a\", \"b\", \"c\"]"), HasSubstr("3 vocabs"));
  EXPECT_THAT(error_of("train_sets = [\"a\", \"b\", \"c\"]"), HasSubstr("3 train_sets"));
  EXPECT_THAT(error_of("valid_sets = [\"a\", \"b\", \"c\"]"), HasSubstr("3 valid_sets"));
  EXPECT_THAT(error_of("task = \"language\"\ntrain_sets = [\"a\", \"b\"]"),
              HasSubstr("this task has one file each"));
  EXPECT_THAT(error_of("after = \"soon\""), HasSubstr("after"));
  EXPECT_THAT(error_of("batch_tokens = 0"), HasSubstr("batch_tokens"));
  EXPECT_THAT(error_of("[validation]\nmetrics = [\"blue\"]"), HasSubstr("\"blue\""));
  EXPECT_THAT(error_of("[validation]\nmetrics = [\"accuracy\"]"), HasSubstr("bleu and chrf"));
  EXPECT_THAT(error_of("[validation]\nsearch.n_best = 9"), HasSubstr("n_best"));
}

TEST(TrainConfig, StopsOnWhatValidationGives) {
  const std::string sets = "valid_sets = [\"a\", \"b\"]\n", set = "valid_sets = [\"a\"]\n";
  EXPECT_THAT(error_of(sets + "stop_on = \"bleu\""),
              HasSubstr("validation gives loss, perplexity"));
  EXPECT_EQ(error_of(sets + "stop_on = \"bleu\"\nvalidation.metrics = [\"bleu\"]"), "(no error)");
  EXPECT_EQ(error_of("stop_on = \"bleu\""), "(no error)") << "there is no validation";
  EXPECT_THAT(error_of(set + "task = \"language\"\nstop_on = \"accuracy\""),
              HasSubstr("validation gives loss, perplexity"));
  EXPECT_EQ(error_of(set + "task = \"classify\"\nstop_on = \"accuracy\""), "(no error)");
}

// The integers whose size costs memory or time have an upper limit, and none wraps around.
TEST(TrainConfig, HugeIntegersAreRefusedByName) {
  for (const char* const key :
       {"cpu_threads", "batch_tokens", "batch_sentences", "block_length", "accumulate",
        "vocabulary.size", "validation.search.beam_size", "validation.search.n_best",
        "schedule.model_size", "transformer.embed", "transformer.heads", "transformer.hidden",
        "transformer.encoder_layers", "transformer.decoder_layers", "language_model.layers",
        "language_model.kv_heads", "classifier.layers", "classifier.head_size",
        "bag_of_words.embed"}) {
    for (const char* const value : {"9223372036854775807", "4294967297", "-1"}) {
      TrainConfig config;
      const std::string message =
          error_message([&] { io::set_fields(config, {fmt::format("{}={}", key, value)}); });
      EXPECT_THAT(message, HasSubstr(fmt::format("{} is {}: it must be from ", key, value)));
    }
  }
}

TEST(TrainConfig, LimitsHoldForAStructToo) {
  const auto refused = [](auto change) {
    TrainConfig config;
    change(config);
    return error_message([&] { config.validate(); });
  };
  EXPECT_THAT(refused([](TrainConfig& c) { c.cpu_threads = 4294967297; }),
              HasSubstr("cpu_threads is 4294967297: it must be from 0 to 1024"));
  EXPECT_THAT(refused([](TrainConfig& c) { c.models.of<Transformer>().block.heads = 0; }),
              HasSubstr("transformer.heads is 0: it must be from 1 to"));
  EXPECT_THAT(refused([](TrainConfig& c) { c.trainer.schedule.peak = 1e30; }),
              HasSubstr("schedule.peak is 1e+30: it must be from 0 to 1000"));
  EXPECT_THAT(refused([](TrainConfig& c) { c.trainer.explosion = 0.5; }),
              HasSubstr("explosion is 0.5: it must be above 1, or 0 for never"));
  EXPECT_THAT(refused([](TrainConfig& c) {
                c.trainer.schedule.kind = Schedule::cosine;
                c.trainer.schedule.total = 5;
              }),
              HasSubstr("total 5 is not beyond warmup"));
}

TEST(TrainConfig, ALanguageModelIsValidatedOnAShareOfItsText) {
  EXPECT_THAT(error_of("task = \"language\"\nstop_on = \"bleu\""),
              HasSubstr("validation gives loss, perplexity"));
  EXPECT_EQ(error_of("task = \"language\"\nstop_on = \"bleu\"\nvalid_share = 0"), "(no error)");
}

}  // namespace
}  // namespace heed
