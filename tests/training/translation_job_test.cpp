// Training of a translator: losses, the position in the corpus, and validation compared with its
// parts, computed one by one.
#include "heed/training/translation_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "heed/autograd/tape.h"
#include "heed/evaluation/bleu.h"
#include "heed/evaluation/chrf.h"
#include "heed/generation/model_folder.h"
#include "heed/ops/cross_entropy.h"
#include "heed/ops/view.h"
#include "tests/generation/tiny_translator.h"
#include "tests/support/temp_dir.h"
#include "tests/training/job_case.h"

namespace heed::translation_job_test {
namespace {

using testing::ElementsAre;

const std::vector<std::string> kSources = {"a b c d", "b c", "d a a b c", "c", "a d", "d d d", "b"};
const std::vector<std::string> kTargets = {"z y x w", "y", "w z z y x", "x x", "w", "w z z", "y y"};

struct Vocabularies {
  std::shared_ptr<const Tokenizer> source = test::words("a b c d");
  std::shared_ptr<const Tokenizer> target = test::words("w x y z");
};

std::shared_ptr<const ParallelCorpus> corpus_of(const Vocabularies& words) {
  auto corpus = std::make_shared<ParallelCorpus>(
      PairSpecials{words.source->special(), words.target->special()}, CorpusOptions{});
  for (std::size_t i = 0; i < kSources.size(); ++i) {
    corpus->add(words.source->encode(kSources[i]), words.target->encode(kTargets[i]));
  }
  return corpus;
}

TranslationJob make(const TranslationJobOptions& options) {
  const Vocabularies words;
  const auto corpus = corpus_of(words);
  return {test::tiny_translator(words.source, words.target),
          corpus,
          {.corpus = corpus, .sources = kSources, .references = {kTargets}},
          options};
}

TranslationJob make() { return make({.batching = {.batch_tokens = 8}}); }

TEST(TranslationJob, Teaches) {
  TranslationJob job = make();
  test::expect_teaches(job);
}

TEST(TranslationJob, GoesBackToTheBit) {
  for (const int before : {0, 2, 9}) {
    TranslationJob job = make(), other = make();
    test::expect_goes_back(job, other, before);
  }
}

TEST(TranslationJob, NegativeLogLikelihoodIsTheLossWithoutSmoothing) {
  TranslationJob plain = make({.label_smoothing = 0.0}), smooth = make({.label_smoothing = 0.3});
  plain.model().eval();
  smooth.model().eval();
  const BatchLoss a = plain.next(), b = smooth.next();
  EXPECT_NEAR(a.sum.item(), a.negative_log_likelihood, 1e-4);
  EXPECT_NEAR(b.negative_log_likelihood, a.negative_log_likelihood, 1e-4);
  EXPECT_GT(std::abs(b.sum.item() - b.negative_log_likelihood), 1e-3);
  EXPECT_EQ(a.counted, 18 + 7);  // words and ends
  EXPECT_EQ(a.target_tokens, a.counted);
  EXPECT_EQ(a.source_tokens, 18 + 7);
}

TEST(TranslationJob, JudgesByTheMetricsOfItsOptions) {
  const auto names = [](const std::vector<std::string>& metrics) {
    TranslationJob job = make({.metrics = metrics});
    job.model().eval();
    std::vector<std::string> all;
    for (const Judgement& judgement : job.validate()) {
      EXPECT_EQ(judgement.higher_is_better, judgement.name == "bleu" || judgement.name == "chrf");
      all.push_back(judgement.name);
    }
    return all;
  };
  EXPECT_THAT(names({"loss"}), ElementsAre("loss"));
  EXPECT_THAT(names({"chrf", "bleu", "perplexity"}), ElementsAre("perplexity", "bleu", "chrf"));
}

TEST(TranslationJob, JudgesAsThePartsDo) {
  TranslationJob job = make({.batching = {.batch_tokens = 8},
                             .metrics = {"loss", "perplexity", "bleu", "chrf"},
                             .tokenizer = evaluation::BleuTokenizer::none,
                             .translate = {.search = {.beam_size = 2}}});
  job.model().eval();
  const std::vector<Judgement> judgements = job.validate();

  const NoGrad no_grad;
  const Translator& translator = job.translator();
  const TranslationModel& model = translator.model();
  const Vocabularies words;
  const auto corpus = corpus_of(words);
  double sum = 0.0;
  for (std::int32_t i = 0; i < corpus->size(); ++i) {
    const Batch batch = make_batch(*corpus, {&i, 1});
    const Tensor y = model.decode(batch.target, model.encode(batch.source));  // [1, T, E]
    const Tensor scores = model.output_layer()(y);                            // [1, T, V]
    sum += cross_entropy(reshape(scores, {-1, scores.size(2)}), reshape(batch.expected, {-1}),
                         {.reduction = Reduction::sum})
               .item();
  }
  const double loss = sum / (18 + 7);
  EXPECT_NEAR(test::value_of(judgements, "loss"), loss, 1e-5);
  EXPECT_NEAR(test::value_of(judgements, "perplexity"), std::exp(loss), 1e-4);

  std::vector<std::string> said;
  for (const auto& found : translator.translate(kSources, {.search = {.beam_size = 2}})) {
    said.push_back(found[0].text);
  }
  const std::vector<std::vector<std::string>> references = {kTargets};
  const evaluation::Bleu bleu({.tokenizer = evaluation::BleuTokenizer::none});
  EXPECT_EQ(test::value_of(judgements, "bleu"),
            evaluation::corpus_score(bleu, said, references).value);
  EXPECT_EQ(test::value_of(judgements, "chrf"),
            evaluation::corpus_score(evaluation::Chrf(), said, references).value);
  EXPECT_GT(test::value_of(judgements, "chrf"), 0.0);
}

TEST(TranslationJob, WithoutValidationThereIsNoJudgement) {
  const Vocabularies words;
  TranslationJob job(test::tiny_translator(words.source, words.target), corpus_of(words), {}, {});
  EXPECT_TRUE(job.validate().empty());
}

TEST(TranslationJob, SavesATranslator) {
  const TempDir dir;
  const TranslationJob job = make();
  job.save(dir.path());
  const Translator read = load_translator(dir.path());
  const auto expected = job.translator().translate(kSources), found = read.translate(kSources);
  for (std::size_t i = 0; i < kSources.size(); ++i)
    EXPECT_EQ(found[i][0].text, expected[i][0].text);
}

}  // namespace
}  // namespace heed::translation_job_test
