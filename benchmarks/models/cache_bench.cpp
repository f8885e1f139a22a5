// What the forms of the cache lose: the perplexity of a language model that reads a text in short
// parts, each of which attends to the cached keys and values of those before it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <vector>

#include "benchmarks/suites.h"
#include "heed/autograd/tape.h"
#include "heed/generation/decoding_steps.h"
#include "heed/generation/model_folder.h"
#include "heed/io/file.h"

namespace heed::bench {
namespace {

constexpr std::int64_t kTokens = 2048, kPart = 16;
constexpr std::size_t kMostBytes = std::size_t{1} << 20;

// In $HEED_MODELS, else ~/.cache/heed-models.
std::filesystem::path smollm2() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::filesystem::path(value != nullptr ? value : "");
  };
  const std::filesystem::path models = variable("HEED_MODELS");
  return (models.empty() ? variable("HOME") / ".cache/heed-models" : models) /
         "smollm2-135m-instruct";
}

double perplexity(const TextGenerator& generator, std::span<const std::int32_t> tokens,
                  CacheForm cache) {
  const NoGrad no_grad;
  const auto decoding = generator.model->start(1, cache);
  double total = 0.0;
  std::int64_t count = 0;
  for (std::int64_t t = 0; t + 1 < std::ssize(tokens); t += kPart) {
    const std::int64_t n = std::min(kPart, std::ssize(tokens) - 1 - t);
    const auto part = [&](std::int64_t first) {
      return ids_of(tokens.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(n)),
                    1);
    };
    const Tensor states = decoding->step(part(t));  // [1, n, E]
    total += generator.model->output_layer().loss(states, part(t + 1)).loss.item() *
             static_cast<double>(n);
    count += n;
  }
  return std::exp(total / static_cast<double>(count));
}

}  // namespace

void model_cache(Report& report) {
  if (!std::filesystem::exists(smollm2())) {
    return report.note(fmt::format("{} is not there", smollm2().string()));
  }
  const TextGenerator generator = load_text_generator(smollm2());
  std::vector<std::int32_t> tokens =
      generator.tokenizer->encode(io::read_file("docs/design/2026-11-attention.md", kMostBytes));
  tokens.resize(std::min<std::size_t>(tokens.size(), kTokens + 1));
  const double exact = perplexity(generator, tokens, CacheForm::f32);
  for (const CacheForm form : {CacheForm::bf16, CacheForm::int8}) {
    const double found = perplexity(generator, tokens, form);
    report.add({"perplexity of SmolLM2-135M-Instruct with a cache in fewer bits",
                fmt::format("{} tokens, {}", tokens.size() - 1,
                            enum_names(form)[static_cast<std::size_t>(form)].name),
                1, exact / found, 0.99, fmt::format("{:.4f}", found),
                fmt::format("{:.4f} with f32", exact)});
  }
}

}  // namespace heed::bench
