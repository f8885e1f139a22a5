#include "heed/generation/translator.h"

#include <algorithm>
#include <utility>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/generation/model_folder.h"
#include "heed/generation/ordering.h"
#include "heed/generation/plan.h"
#include "heed/generation/search.h"
#include "heed/generation/watched_steps.h"
#include "heed/nn/checkpoint_file.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

constexpr std::string_view kKind = "translator";

// What config.json says of a translator.
struct TranslatorFolder {
  std::string kind{kKind};
  std::string source_tokenizer;
  std::string target_tokenizer;
  TransformerConfig model;

  void fields(io::Fields& field) {
    field("kind", kind, "what the folder holds");
    field("source_tokenizer", source_tokenizer, "the file of the source's tokenizer");
    field("target_tokenizer", target_tokenizer, "the file of the target's tokenizer");
    field("model", model, "the Transformer");
  }
};

Tensor wide(std::span<const std::int32_t> ids) {
  const std::vector<std::int64_t> values(ids.begin(), ids.end());
  return from_values(std::span<const std::int64_t>(values), {1, std::ssize(values)});  // [1, T]
}

}  // namespace

Translator::Translator(Transformer model, std::shared_ptr<const Tokenizer> source,
                       std::shared_ptr<const Tokenizer> target)
    : model_(std::move(model)), source_(std::move(source)), target_(std::move(target)) {
  const TransformerConfig& config = model_.config();
  HEED_CHECK(
      source_->size() == config.source_vocabulary && target_->size() == config.target_vocabulary,
      "[translator] tokenizers of {} and {} tokens, a model of {} and {}: they do not belong "
      "together",
      source_->size(), target_->size(), config.source_vocabulary, config.target_vocabulary);
}

std::vector<std::int32_t> Translator::read(std::string_view sentence) const {
  std::vector<std::int32_t> ids = source_->encode(sentence);
  ids.push_back(source_->special().end);
  return ids;
}

std::vector<NBest> Translator::search_batch(std::span<const Source> sources,
                                            const TranslateOptions& options) const {
  const NoGrad no_grad;
  const auto B = static_cast<std::int64_t>(sources.size());
  std::size_t longest = 1;
  for (const Source& source : sources) longest = std::max(longest, source.tokens.size());
  const auto S = static_cast<std::int64_t>(longest);
  Tensor ids = full({B, S}, source_->special().padding, DType::i64);  // [B, S]
  Tensor lengths = empty({B}, DType::i64);                            // [B]
  std::vector<Start> starts;
  for (std::int64_t b = 0; b < B; ++b) {
    const auto& [source, stream] = sources[static_cast<std::size_t>(b)];
    std::ranges::copy(source, ids.mutable_data<std::int64_t>() + b * S);
    lengths.mutable_data<std::int64_t>()[b] = std::ssize(source);
    starts.push_back(
        {.token = target_->special().begin, .source_length = std::ssize(source), .stream = stream});
  }
  const auto steps = make_steps(model_, model_.encode(ids, lengths), options.stepping);
  SearchOptions bounded = options.search;
  bounded.max_length = std::min(bounded.max_length, model_.target.max_length() - 1);  // begin
  bounded.min_length = std::min(bounded.min_length, bounded.max_length);
  WatchedSteps watched(*steps, [&](std::span<const std::int32_t>) {
    if (options.on_step) options.on_step();
  });
  return search(watched, starts, make_plan(bounded, target_->special()));
}

std::vector<std::vector<Translation>> Translator::translate_batch(
    std::span<const Source> sources, const TranslateOptions& options) const {
  std::vector<std::vector<Translation>> results(sources.size());
  std::vector<Source> spoken;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].tokens.size() <= 1) {
      results[i].push_back({});
    } else {
      spoken.push_back(sources[i]);
      places.push_back(i);
    }
  }
  if (spoken.empty()) return results;
  std::vector<NBest> found = search_batch(spoken, options);
  for (std::size_t k = 0; k < places.size(); ++k) {
    for (Hypothesis& hypothesis : found[k]) {
      std::string text = target_->decode(hypothesis.tokens);
      results[places[k]].push_back({std::move(text), std::move(hypothesis)});
    }
  }
  return results;
}

std::vector<std::vector<Translation>> Translator::translate(std::span<const std::string> sentences,
                                                            const TranslateOptions& options) const {
  std::vector<std::vector<std::int32_t>> sources;
  for (const std::string& sentence : sentences) sources.push_back(read(sentence));
  std::vector<std::vector<Translation>> results(sentences.size());
  std::vector<std::int64_t> lengths;
  for (const auto& source : sources) lengths.push_back(std::ssize(source));
  for (const auto& batch : plan_batches(lengths, {.batch_tokens = options.batch_tokens})) {
    std::vector<Source> chosen;
    for (const std::int64_t place : batch) {
      chosen.push_back(
          {sources[static_cast<std::size_t>(place)], static_cast<std::uint64_t>(place)});
    }
    auto found = translate_batch(chosen, options);
    for (std::size_t k = 0; k < batch.size(); ++k) {
      results[static_cast<std::size_t>(batch[k])] = std::move(found[k]);
    }
  }
  return results;
}

TransformerWeights Translator::weights(std::span<const std::int32_t> source,
                                       std::span<const std::int32_t> target) const {
  return model_.weights(wide(source), {}, wide(target));
}

void save_translator(const Translator& translator, const std::filesystem::path& folder) {
  const bool shared = translator.source() == translator.target();
  TranslatorFolder about;
  about.model = translator.model().config();
  about.source_tokenizer = write_tokenizer(*translator.source(), folder, shared ? "" : "source_");
  about.target_tokenizer =
      shared ? about.source_tokenizer : write_tokenizer(*translator.target(), folder, "target_");
  io::save_config(folder / kModelConfigFile, about);
  save_parameters(translator.model(), folder / kModelFile);
}

Translator load_translator(const std::filesystem::path& place) {
  const std::filesystem::path folder = find_model(place);
  check_kind(folder, kKind);
  TranslatorFolder about;
  io::load_config(folder / kModelConfigFile, about);
  const std::shared_ptr<const Tokenizer> source = load_tokenizer(folder / about.source_tokenizer);
  const std::shared_ptr<const Tokenizer> target =
      about.target_tokenizer == about.source_tokenizer
          ? source
          : std::shared_ptr<const Tokenizer>(load_tokenizer(folder / about.target_tokenizer));
  Generator unused(0);
  Transformer model(about.model, unused);
  load_parameters(model, folder / kModelFile);
  model.eval();
  return {std::move(model), source, target};
}

}  // namespace heed
