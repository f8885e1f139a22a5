#include "benchmarks/models/cases.h"

#include "benchmarks/models/language_case.h"
#include "benchmarks/models/translator_case.h"
#include "heed/autograd/tape.h"
#include "heed/base/error.h"

namespace heed::bench {
namespace {

constexpr int kOneAndTwo[] = {1, 2};
constexpr int kTwo[] = {2};

std::unique_ptr<TrainedModel> make_tiny() {
  return std::make_unique<TrainedTranslator>(transformer_tiny(), CorpusShape{});
}

// Fewer tokens, one batch: a step takes seconds.
std::unique_ptr<TrainedModel> make_base() {
  return std::make_unique<TrainedTranslator>(
      TransformerConfig{}, CorpusShape{.vocabulary = 32000, .batch_tokens = 2048, .batches = 1});
}

std::unique_ptr<TrainedModel> make_gpt() { return std::make_unique<TrainedLanguageModel>(); }

constexpr ModelCase kCases[] = {
    {"tiny", "Transformer-Tiny, 4096 tokens", 2.0, 4, kOneAndTwo, make_tiny},
    {"base", "Transformer-base, 2048 tokens", 1.3, 2, kTwo, make_base},
    {"gpt", "language model of nanoGPT's size for CPUs", 2.0, 5, kOneAndTwo, make_gpt},
};

}  // namespace

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

std::span<const ModelCase> model_cases() { return kCases; }

const ModelCase& model_case(std::string_view name) {
  for (const ModelCase& known : kCases) {
    if (known.name == name) return known;
  }
  HEED_CHECK(false, "[bench] no model '{}': tiny, base or gpt", name);
  return kCases[0];
}

}  // namespace heed::bench
