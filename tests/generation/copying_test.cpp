// Translators that copy words of their source: steps compared with the whole pass, searches in any
// company, words that the vocabulary lacks, and what they learn in seconds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "heed/attention/variants/pointer_generator.h"
#include "heed/autograd/tape.h"
#include "heed/generation/examine.h"
#include "heed/generation/model_folder.h"
#include "heed/generation/translation_filter.h"
#include "heed/models/recurrent_translator.h"
#include "heed/nn/pack_weights.h"
#include "heed/ops/elementwise.h"
#include "heed/tensor/copy.h"
#include "heed/training/translation_job.h"
#include "tests/generation/tiny_translator.h"
#include "tests/learning/learn.h"
#include "tests/models/model_case.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"
#include "tests/training/job_case.h"

namespace heed::copying_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kWords = "a b c d sees likes";
const std::vector<std::string> kSources = {"a sees Zuko", "Miro likes Zuko and Miro", "c",
                                           "b sees d likes a sees Bela Kun", "Tarn"};

enum class Kind { transformer, one_head, recurrent, fed, plain_steps };
constexpr Kind kKinds[] = {Kind::transformer, Kind::one_head, Kind::recurrent, Kind::fed,
                           Kind::plain_steps};

std::unique_ptr<TranslationModel> make_model(Kind kind, const Tokenizer& source,
                                             const Tokenizer& target) {
  Generator generator(7);
  if (kind == Kind::transformer || kind == Kind::one_head) {
    TransformerConfig config{.source_vocabulary = source.size(),
                             .target_vocabulary = target.size(),
                             .padding = target.special().padding,
                             .encoder_layers = 1,
                             .decoder_layers = 2,
                             .block = BlockConfig{.embed = 16, .heads = 2, .hidden = 20},
                             .tied = Tied::two,
                             .copy = true,
                             .coverage = 0.5};
    if (kind == Kind::one_head) config.copy_head = 2;
    return std::make_unique<Transformer>(config, generator);
  }
  RecurrentTranslatorConfig config{
      .source_vocabulary = source.size(),
      .target_vocabulary = target.size(),
      .padding = target.special().padding,
      .decoder = RecurrentDecoderConfig{
          .embed = 12, .hidden = 16, .attention = "pointer_generator", .copy = true}};
  config.coverage = 0.5;
  if (kind == Kind::fed) {
    config.decoder.feeding = Feeding::readout;
    config.decoder.readout = Readout::attentional;
  }
  if (kind == Kind::plain_steps) {
    config.decoder.attention = "pointer_generator coverage=false";
    config.decoder.feeding = Feeding::none;
  }
  return std::make_unique<RecurrentTranslator>(config, generator);
}

Translator make_translator(Kind kind) {
  const auto source = test::words(kWords), target = test::words(kWords);
  auto model = make_model(kind, *source, *target);
  model->eval();
  return {std::move(model), source, target};
}

std::shared_ptr<const ParallelCorpus> corpus_of(const Translator& translator,
                                                const std::vector<std::string>& sources,
                                                const std::vector<std::string>& targets) {
  auto corpus = std::make_shared<ParallelCorpus>(
      PairSpecials{translator.source()->special(), translator.target()->special()},
      CorpusOptions{});
  const PairReader reader{
      .source = [&](std::string_view line) { return translator.source()->encode(line); },
      .target = [&](std::string_view line) { return translator.target()->encode(line); },
      .copies = translator.copies()};
  for (std::size_t i = 0; i < sources.size(); ++i) {
    add_pair(*corpus, reader, {.source = sources[i], .target = targets[i]});
  }
  return corpus;
}

Batch batch_of(const Translator& translator) {
  const auto corpus = corpus_of(translator, kSources, kSources);
  return make_batch(*corpus, std::vector<std::int32_t>{0, 1, 2, 3, 4});
}

// ---- batches ------------------------------------------------------------------------------------

TEST(Copying, BatchesHaveWordsOfTheSource) {
  const Translator translator = make_translator(Kind::transformer);
  const std::int64_t V = translator.target()->size();
  const Batch batch = batch_of(translator);
  const auto row = [](const Tensor& x, std::int64_t b) {
    return test::row_of(x, b).to_vector<std::int64_t>();
  };
  const std::int64_t unknown = 0, end = 2, likes = translator.target()->encode("likes")[0];
  EXPECT_THAT(row(batch.copies, 1), ElementsAre(V, likes, V + 1, V + 2, V, end, 3, 3, 3));
  EXPECT_THAT(row(batch.expected, 1),
              ElementsAre(V, likes, V + 1, V + 2, V, end, kIgnored, kIgnored, kIgnored));
  EXPECT_THAT(row(batch.target, 1),
              ElementsAre(1, unknown, likes, unknown, unknown, unknown, 3, 3, 3));
}

// ---- the loss -----------------------------------------------------------------------------------

// The loss of the job in double against the mixture of attention/variants/pointer_generator.h.
TEST(Copying, TheLossIsThatOfThePlainMixtureWithItsGradients) {
  for (const Kind kind : kKinds) {
    SCOPED_TRACE(static_cast<int>(kind));
    Translator translator = make_translator(kind);
    TranslationModel& model = translator.model();
    model.to(DType::f64);
    const Batch batch = batch_of(translator);
    std::int64_t words = 0;
    for (const std::int64_t id : batch.copies.to_vector<std::int64_t>()) {
      words = std::max(words, id - translator.target()->size() + 1);
    }
    const Memory memory = model.encode(batch.source, batch.source_lengths);
    CopySteps steps;
    const Tensor y = copying_of(model)->decode_copying(batch.target, memory, steps);  // [B, T, E]
    const Attended attended{.context = {}, .weights = steps.weights, .coverage = steps.coverage};
    const Tensor p = copy_mixture(attended, sigmoid(unsqueeze(steps.gate, 2)),
                                  {.logits = model.output_layer()(y),
                                   .source_ids = batch.copies,
                                   .extra = words});  // [B, T, V + words]
    Tensor plain;
    for (std::int64_t b = 0; b < 5; ++b) {
      for (std::int64_t t = 0; t < batch.target_lengths.values<std::int64_t>()[b]; ++t) {
        const std::int64_t id =
            batch.expected.values<std::int64_t>()[b * batch.expected.size(1) + t];
        const Tensor one = -log(select(select(select(p, 0, b), 0, t), 0, id)) +
                           0.5 * select(select(coverage_loss(attended), 0, b), 0, t);
        plain = plain.defined() ? plain + one : one;
      }
    }
    plain.backward();
    std::vector<Tensor> gradients;
    for (const Tensor& parameter : model.parameters()) gradients.push_back(parameter.grad());
    model.zero_grad();
    TranslationJob job(translator, corpus_of(translator, kSources, kSources), {},
                       {.label_smoothing = 0.0, .batching = {.batch_tokens = 1000}});
    const BatchLoss loss = job.next();
    EXPECT_NEAR(loss.sum.item(), plain.item(), 1e-10);
    EXPECT_LT(loss.negative_log_likelihood, loss.sum.item()) << "coverage is not counted";
    loss.sum.backward();
    const std::vector<Tensor> parameters = model.parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      ASSERT_EQ(parameters[i].grad().defined(), gradients[i].defined()) << i;
      if (!gradients[i].defined()) continue;
      EXPECT_LE(test::max_relative_error(parameters[i].grad(), gradients[i]), 1e-9) << i;
    }
  }
}

TEST(Copying, EveryParameterLearnsAndTheStreamGoesBack) {
  for (const Kind kind : kKinds) {
    SCOPED_TRACE(static_cast<int>(kind));
    const auto make = [&] {
      Translator translator = make_translator(kind);
      const auto corpus = corpus_of(translator, kSources, kSources);
      return TranslationJob(std::move(translator), corpus, {}, {.batching = {.batch_tokens = 8}});
    };
    TranslationJob job = make(), other = make();
    test::expect_teaches(job);
    test::expect_goes_back(other, job, 1);
  }
}

// ---- decoding -----------------------------------------------------------------------------------

TEST(Copying, StepsGiveTheWholePass) {
  for (const Kind kind : kKinds) {
    for (const Stepping stepping : {Stepping::automatic, Stepping::replayed}) {
      SCOPED_TRACE(fmt::format("{} {}", static_cast<int>(kind), static_cast<int>(stepping)));
      const Translator translator = make_translator(kind);
      const TranslationModel& model = translator.model();
      const Batch batch = batch_of(translator);
      const NoGrad no_grad;
      const Memory memory = model.encode(batch.source, batch.source_lengths);
      CopySteps whole;
      const Tensor y = copying_of(model)->decode_copying(batch.target, memory, whole);
      const std::unique_ptr<Decoding> decoding = model.start(memory, stepping);
      decoding->reorder(std::vector<std::int64_t>{4, 1, 1, 0});
      const Tensor rows = from_values<std::int64_t>({4, 1, 1, 0}, {4});
      for (std::int64_t t = 0; t < batch.target.size(1); ++t) {
        const auto part = [&](const Tensor& x) {
          return index_select(contiguous_copy(view::slice(x, 1, t, t + 1)), 0, rows);
        };
        EXPECT_LE(test::max_relative_error(decoding->step(part(batch.target)), part(y)), 2e-5);
        ASSERT_NE(copied_by(*decoding), nullptr);
        EXPECT_LE(test::max_relative_error(copied_by(*decoding)->gate, part(whole.gate)), 2e-5);
        EXPECT_LE(test::max_relative_error(copied_by(*decoding)->weights, part(whole.weights)),
                  2e-5);
      }
    }
  }
}

// The same sentences alone and together, by beams and samples: the same bits in Transformers with
// packed weights. The products of `pointer_generator` with a source depend on its padding.
TEST(Copying, ResultsAreTheSameInAnyCompany) {
  for (const Kind kind : kKinds) {
    for (const bool samples : {false, true}) {
      SCOPED_TRACE(fmt::format("{} {}", static_cast<int>(kind), samples));
      Translator translator = make_translator(kind);
      pack_weights(translator.model(), PackedForm::f32);
      TranslateOptions options{.search = {.beam_size = 3, .n_best = 2, .max_length = 9}};
      if (samples) options.search.method = SearchMethod::sample;
      options.scheduling.batch_sentences = 2;  // the others join when one leaves
      const auto together = translator.translate(kSources, options);
      std::size_t copied = 0;
      for (std::size_t i = 0; i < kSources.size(); ++i) {
        std::vector<std::string> before(i);  // so that the sentence has the same number
        before.push_back(kSources[i]);
        const auto alone = translator.translate(before, options).back();
        ASSERT_EQ(alone.size(), together[i].size());
        for (std::size_t k = 0; k < alone.size(); ++k) {
          const Hypothesis &a = alone[k].hypothesis, &b = together[i][k].hypothesis;
          EXPECT_EQ(alone[k].text, together[i][k].text);
          EXPECT_EQ(a.tokens, b.tokens);
          EXPECT_EQ(a.copied, b.copied);
          if (kind == Kind::transformer || kind == Kind::one_head) {
            EXPECT_EQ(a.token_log_probabilities, b.token_log_probabilities);
          }
          EXPECT_NEAR(a.log_probability, b.log_probability, 1e-4);
          copied += a.copied.size();
        }
      }
      EXPECT_GT(copied, 0u);
    }
  }
}

TEST(Copying, ScoresOfAPassOverTheWholeAreThoseOfTheSearch) {
  for (const Kind kind : kKinds) {
    const Translator translator = make_translator(kind);
    const SearchOptions search{.beam_size = 3, .max_length = 9};
    for (const std::string& sentence : kSources) {
      const Translation found = translator.translate({&sentence, 1}, {.search = search})[0][0];
      const std::vector<std::int32_t> source = translator.read(sentence);
      const auto copied = translator.copied(sentence, source);
      const std::vector<std::int32_t> tokens = translator.read_result(found.text, copied.get());
      const Hypothesis again = examine_score(translator, {source, tokens, copied.get()}, search);
      EXPECT_NEAR(again.log_probability, found.hypothesis.log_probability, 1e-4) << found.text;
      EXPECT_EQ(again.copied, found.hypothesis.copied);
    }
  }
}

TEST(Copying, SavedPackedAndObserved) {
  const TempDir folder;
  for (const Kind kind : {Kind::transformer, Kind::recurrent}) {
    const Translator translator = make_translator(kind);
    const auto path = folder.path() / fmt::format("model{}", static_cast<int>(kind));
    std::filesystem::create_directory(path);
    save_model(translator, path);
    TranslateOptions options{.search = {.beam_size = 2, .max_length = 8}};
    const auto expected = translator.translate(kSources, options);
    for (const WeightForm form :
         {WeightForm(), WeightForm(PackedForm::f32), WeightForm(PackedForm::int8)}) {
      const Translator loaded = load_translator(path, form);
      options.observed = ObservedWeights::cross;
      const auto found = loaded.translate(kSources, options);
      for (std::size_t i = 0; i < kSources.size(); ++i) {
        ASSERT_TRUE(found[i][0].hypothesis.weights);
        if (!form) {
          EXPECT_EQ(found[i][0].text, expected[i][0].text);
        }
        EXPECT_NEAR(found[i][0].hypothesis.score, expected[i][0].hypothesis.score, 0.2);
      }
    }
  }
}

TEST(Copying, BadConfigs) {
  TransformerConfig transformer{.block = BlockConfig{.embed = 16, .heads = 2}, .coverage = 1.0};
  EXPECT_THAT(error_message([&] { transformer.validate(); }), HasSubstr("set copy = true"));
  transformer.copy = true;
  transformer.copy_head = 3;
  EXPECT_THAT(error_message([&] { transformer.validate(); }),
              HasSubstr("copy_head = 3: the decoder has heads 1 to 2"));
  transformer.copy_head = {};
  transformer.block.cross_attention = "global";
  EXPECT_THAT(error_message([&] { transformer.validate(); }), HasSubstr("use \"multi_head\""));
  RecurrentTranslatorConfig recurrent;
  recurrent.coverage = 1.0;
  EXPECT_THAT(error_message([&] { recurrent.validate(); }), HasSubstr("set copy = true"));
  recurrent.decoder.copy = true;
  EXPECT_THAT(error_message([&] { recurrent.validate(); }),
              HasSubstr("copy = true with attention = \"bahdanau\""));
}

TEST(Copying, NoShortlistAndNoRequestWithoutWords) {
  const Translator translator = make_translator(Kind::transformer);
  EXPECT_THAT(error_message([&] {
                translator.search_batch(
                    std::vector<Translator::Source>{{.tokens = translator.read("a sees Zuko")}},
                    {});
              }),
              HasSubstr("Translator::copied"));
}

// ---- learning -----------------------------------------------------------------------------------

std::string made_up(std::int64_t number) {
  std::string name = "N";
  for (int i = 0; i < 4; ++i, number /= 7) name += static_cast<char>('a' + number % 7);
  return name;
}

// "a sees Nabcd" -> "Nabcd sees a": names are never in the vocabulary.
struct Pair {
  std::string source, target;
};
Pair pair_of(std::int64_t i) {
  const std::string verb = i % 2 == 0 ? "sees" : "likes", other(1, static_cast<char>('a' + i % 4));
  const std::string name = made_up(i * 37 % 2401);
  if (i % 3 == 0) return {name + " " + verb + " " + other, other + " " + verb + " " + name};
  return {other + " " + verb + " " + name, name + " " + verb + " " + other};
}

TEST(Copying, NamesThatTheVocabularyLacksComeOutRight) {
  for (const Kind kind : {Kind::transformer, Kind::recurrent}) {
    SCOPED_TRACE(static_cast<int>(kind));
    Translator translator = make_translator(kind);
    std::vector<std::string> train_sources, train_targets;
    for (std::int64_t i = 0; i < 600; ++i) {
      train_sources.push_back(pair_of(i).source);
      train_targets.push_back(pair_of(i).target);
    }
    const auto corpus = corpus_of(translator, train_sources, train_targets);
    TranslationJob job(translator, corpus, {},
                       {.label_smoothing = 0.0, .batching = {.batch_tokens = 256}});
    job.model().train();
    test::learn(job.model(), {.updates = 300, .rate = 1e-2}, [&](int) {
      const BatchLoss loss = job.next();
      return loss.sum / static_cast<double>(loss.counted);
    });
    job.model().eval();
    std::vector<std::string> sources, expected, found;
    for (std::int64_t i = 1000; i < 1030; ++i) {
      sources.push_back(pair_of(i).source);
      expected.push_back(pair_of(i).target);
    }
    for (const auto& one : job.translator().translate(sources, {.search = {.max_length = 8}})) {
      found.push_back(one[0].text);
    }
    EXPECT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace heed::copying_test
