// Training of a language model: losses, the position in the text, and validation by hand.
#include "heed/training/language_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "heed/autograd/tape.h"
#include "heed/generation/model_folder.h"
#include "heed/models/language_model.h"
#include "heed/ops/cross_entropy.h"
#include "heed/ops/view.h"
#include "heed/training/stream_settings.h"
#include "tests/generation/tiny_translator.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"
#include "tests/training/job_case.h"

namespace heed::language_job_test {
namespace {

using testing::HasSubstr;

constexpr const char* kText = "abc abd acd bcd abca bdda cabd dacb baba cddc";
constexpr const char* kHeldOut = "bad cab dab";

TextGenerator tiny() {
  const auto tokenizer = test::letters("abcd ");
  Generator random(2);
  LanguageModelConfig config{.vocabulary = tokenizer->size(), .layers = 1};
  config.block.embed = 16;
  config.block.heads = 2;
  config.block.positions = "learned max_length=8";
  return {std::make_unique<LanguageModel>(config, random), tokenizer};
}

TokenStream stream_of(std::string_view text) {
  return TokenStream(test::letters("abcd ")->encode(text));
}

LanguageJob make(std::string_view held_out = kHeldOut) {
  return {tiny(), stream_of(kText), stream_of(held_out), {.batch = {.rows = 3, .length = 4}}};
}

TEST(LanguageJob, Teaches) {
  LanguageJob job(tiny(), stream_of(kText), stream_of(""), {.batch = {.rows = 8, .length = 8}});
  test::expect_teaches(job);
}

TEST(LanguageJob, GoesBackToTheBit) {
  for (const int before : {0, 2, 9}) {
    LanguageJob job = make(), other = make();
    test::expect_goes_back(job, other, before);
  }
}

TEST(LanguageJob, ItsBatchesDependOnTheirSizeAndTheSeed) {
  EXPECT_EQ(settings_text(make().stream_settings()),
            "block_length=4, batch_tokens / block_length (or batch_sentences)=3, seed=1");
}

// In a text that repeats itself, all rows that begin at multiples of its period are the same.
TEST(LanguageJob, RowsBeginAtMultiplesOfTheirLengthIfAsked) {
  const auto losses = [](bool aligned) {
    LanguageJob job(tiny(), stream_of("abcdabcdabcdabcdabcdabcdabcda"), stream_of(""),
                    {.batch = {.rows = 3, .length = 4, .aligned = aligned}});
    job.model().eval();
    std::set<double> different;
    for (int i = 0; i < 6; ++i) different.insert(job.next().sum.item());
    return different.size();
  };
  EXPECT_EQ(losses(true), 1u);
  EXPECT_GT(losses(false), 1u);
}

TEST(LanguageJob, AnEpochReadsAsManyTokensAsThereAre) {
  LanguageJob job = make();  // 45 tokens, 12 a batch
  test::losses_of(job, 3);
  EXPECT_TRUE(job.position() == (StreamPosition{0, 3}));
  EXPECT_DOUBLE_EQ(job.epoch_share(), 0.75);
  test::losses_of(job, 1);
  EXPECT_TRUE(job.position() == (StreamPosition{1, 0}));
}

TEST(LanguageJob, JudgesByTheMeanOfAllTokens) {
  LanguageJob job = make();
  job.model().eval();
  const std::vector<Judgement> judgements = job.validate();
  const NoGrad no_grad;
  const auto& model = static_cast<const LanguageModel&>(job.model());
  const TokenStream text = stream_of(kHeldOut);
  double sum = 0.0;
  std::int64_t counted = 0;
  for (std::int64_t i = 0; i < text.block_count(4); ++i) {
    const TokenBlocks block = text.blocks({.rows = 1, .length = 4}, i);
    const Tensor scores = model.output(model(block.tokens));  // [1, T, V]
    sum += cross_entropy(reshape(scores, {-1, scores.size(2)}), reshape(block.expected, {-1}),
                         {.reduction = Reduction::sum})
               .item();
    counted += block.count;
  }
  EXPECT_EQ(counted, text.size() - 1);
  const double loss = sum / static_cast<double>(counted);
  EXPECT_NEAR(test::value_of(judgements, "loss"), loss, 1e-5);
  EXPECT_NEAR(test::value_of(judgements, "perplexity"), std::exp(loss), 1e-4);
}

TEST(LanguageJob, WithoutValidationThereIsNoJudgement) { EXPECT_TRUE(make("").validate().empty()); }

TEST(LanguageJob, NeedsMoreTextThanABlock) {
  EXPECT_THAT(error_message([] {
                LanguageJob(tiny(), stream_of("abcd"), stream_of(""), {.batch = {.length = 4}});
              }),
              HasSubstr("the text has 4 tokens, a block 4"));
}

TEST(LanguageJob, SavesAGenerator) {
  const TempDir dir;
  LanguageJob job = make();
  job.save(dir.path());
  const TextGenerator read = load_text_generator(dir.path());
  const NoGrad no_grad;
  const Tensor ids = stream_of(kText).blocks({.rows = 2, .length = 6}, 0).tokens;
  job.model().eval();
  EXPECT_TRUE(
      test::same_bits((*read.model)(ids), static_cast<const LanguageModel&>(job.model())(ids)));
}

}  // namespace
}  // namespace heed::language_job_test
