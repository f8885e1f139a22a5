#include "benchmarks/models/cases.h"

#include <cstdlib>

#include "benchmarks/models/language_case.h"
#include "benchmarks/models/picture_case.h"
#include "benchmarks/models/recurrent_case.h"
#include "benchmarks/models/translator_case.h"
#include "benchmarks/support/measure.h"
#include "heed/autograd/tape.h"
#include "heed/base/error.h"

namespace heed::bench {
namespace {

constexpr int kThreads[] = {1, 2};

std::unique_ptr<TrainedModel> make_tiny() {
  return std::make_unique<TrainedTranslator>(transformer_tiny(), CorpusShape{});
}

// Fewer tokens, one batch: a step takes seconds.
std::unique_ptr<TrainedModel> make_base() {
  return std::make_unique<TrainedTranslator>(
      TransformerConfig{}, CorpusShape{.vocabulary = 32000, .batch_tokens = 2048, .batches = 1});
}

// The vocabulary and the batches of 128 sentences of Multi30k in words.
constexpr CorpusShape kWordCorpus{.vocabulary = 6000, .batch_tokens = 2048};

std::unique_ptr<TrainedModel> make_bahdanau() {
  return std::make_unique<TrainedRecurrent>(bahdanau_translator(), kWordCorpus);
}
std::unique_ptr<TrainedModel> make_luong() {
  return std::make_unique<TrainedRecurrent>(luong_translator(), kWordCorpus);
}

std::unique_ptr<TrainedModel> make_resnet() { return std::make_unique<TrainedResNet>(); }
std::unique_ptr<TrainedModel> make_gpt() { return std::make_unique<TrainedLanguageModel>(); }

constexpr ModelCase kCases[] = {
    {"tiny", "Transformer-Tiny, 4096 tokens", 2.0, 4, false, make_tiny},
    {"base", "Transformer-base, 2048 tokens", 1.3, 2, false, make_base},
    {"bahdanau", "GRU translator with Bahdanau's attention, 2048 tokens", 1.3, 3, false,
     make_bahdanau},
    {"luong", "LSTM translator with Luong's attention, 2048 tokens", 1.3, 3, false, make_luong},
    {"resnet", "ResNet-20, 128 pictures of 32 x 32", 1.0, 5, true, make_resnet},
    {"gpt", "language model of nanoGPT's size for CPUs", 2.0, 5, true, make_gpt},
};

}  // namespace

void repeat_step(Optimizer& optimizer) {
  optimizer.step({.rate = kRepeatedRate});
  optimizer.zero_grad();
}

void TrainedModel::step(std::int64_t batch) {
  forward(batch, [](const char* /*part*/) {}).backward();
  update();
}

double TrainedModel::loss_in_use(std::int64_t batch) {
  const NoGrad off;
  module().eval();
  const double loss = forward(batch, [](const char* /*part*/) {}).item();
  module().train();
  return loss;
}

std::span<const ModelCase> model_cases() {
  const char* const only = std::getenv("HEED_BENCH_MODEL");
  return only == nullptr ? std::span<const ModelCase>(kCases) : std::span(&model_case(only), 1);
}

std::span<const int> threads_of(const ModelCase& item) {
  if (counts_cpu_time()) return std::span(kThreads).first(1);
  const bool all = item.cheap || std::getenv("HEED_BENCH_ALL") != nullptr;
  return std::span(kThreads).subspan(all ? 0 : 1);
}

const ModelCase& model_case(std::string_view name) {
  for (const ModelCase& known : kCases) {
    if (known.name == name) return known;
  }
  HEED_CHECK(false, "[bench] no model '{}': tiny, base, bahdanau, luong, resnet or gpt", name);
  return kCases[0];
}

}  // namespace heed::bench
