#include "heed/generation/translator.h"

#include <algorithm>
#include <utility>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/generation/decoding_steps.h"
#include "heed/generation/examine.h"
#include "heed/generation/ordering.h"
#include "heed/generation/search.h"
#include "heed/generation/watched_steps.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"

namespace heed {
namespace {

PaddedRows padded(std::span<const Translator::Source> sources, std::int32_t padding) {
  std::vector<std::span<const std::int32_t>> rows;
  for (const Translator::Source& source : sources) rows.emplace_back(source.tokens);
  return pad_rows(rows, padding);
}

// The encoder's weights of one sentence of S tokens: [1, H, S, S] a layer.
std::vector<LayerWeights> encoder_of(const std::vector<LayerWeights>& batch, std::int64_t row,
                                     std::int64_t S) {
  std::vector<LayerWeights> own;
  for (const LayerWeights& layer : batch) {
    Tensor self;
    if (layer.self.defined()) {
      const Tensor one = slice(layer.self, 0, row, row + 1);        // [1, H, longest, longest]
      self = contiguous_copy(slice(slice(one, 2, 0, S), 3, 0, S));  // [1, H, S, S]
    }
    own.push_back({.self = self, .cross = {}});
  }
  return own;
}

bool is_complete(const ModelWeights& weights, ObservedWeights what) {
  return std::ranges::all_of(weights.decoder, [&](const LayerWeights& layer) {
    return layer.cross.defined() && (what == ObservedWeights::cross || layer.self.defined());
  });
}

}  // namespace

Translator::Translator(std::shared_ptr<TranslationModel> model,
                       std::shared_ptr<const Tokenizer> source,
                       std::shared_ptr<const Tokenizer> target)
    : Translator(std::move(model), source, target, plain_format(*source, *target)) {
  HEED_CHECK(
      source_->size() == model_->source_vocabulary() &&
          target_->size() == model_->target_vocabulary(),
      "[translator] tokenizers of {} and {} tokens, a model of {} and {}: they do not belong "
      "together",
      source_->size(), target_->size(), model_->source_vocabulary(), model_->target_vocabulary());
}

Translator::Translator(std::shared_ptr<TranslationModel> model,
                       std::shared_ptr<const Tokenizer> source,
                       std::shared_ptr<const Tokenizer> target, TranslationFormat format)
    : model_(std::move(model)),
      source_(std::move(source)),
      target_(std::move(target)),
      format_(std::move(format)),
      frame_(frame_for(format_, "", "")) {}

Translator Translator::between(std::string_view source, std::string_view target) const {
  Translator other = *this;
  other.frame_ = frame_for(format_, source, target);
  return other;
}

std::vector<std::int32_t> Translator::read(std::string_view sentence) const {
  HEED_CHECK(!frame_.lacks_target,
             "[translate] the model writes {} languages: choose one with --target-language "
             "(target_language in Python; `heed translate --list-languages` lists them)",
             format_.languages.all.size());
  std::vector<std::int32_t> ids = frame_.before;
  const std::vector<std::int32_t> words = source_->encode(sentence);
  ids.insert(ids.end(), words.begin(), words.end());
  ids.insert(ids.end(), frame_.after.begin(), frame_.after.end());
  return ids;
}

std::vector<std::int32_t> Translator::read_result(std::string_view text) const {
  std::vector<std::int32_t> ids = frame_.forced;
  const std::vector<std::int32_t> words = target_->encode(text);
  ids.insert(ids.end(), words.begin(), words.end());
  return ids;
}

std::string Translator::text_of(std::span<const std::int32_t> tokens) const {
  if (format_.languages.all.empty()) return target_->decode(tokens);
  std::vector<std::int32_t> words(tokens.begin(), tokens.end());
  std::erase_if(words, [&](std::int32_t token) {
    return std::ranges::find(format_.languages.all, token, &Language::token) !=
           format_.languages.all.end();
  });
  return target_->decode(words);
}

std::vector<Start> Translator::starts_of(std::span<const Source> sources) const {
  std::vector<Start> starts;
  for (const auto& [tokens, stream, prefix] : sources) {
    Start start{.token = frame_.start,
                .source_length = std::ssize(tokens),
                .stream = stream,
                .forced = frame_.forced};
    start.forced.insert(start.forced.end(), prefix.begin(), prefix.end());
    HEED_CHECK(std::ssize(start.forced) < model_->max_target(),
               "[translate] a prefix of {} tokens: the model writes at most {}", prefix.size(),
               model_->max_target() - 1);
    starts.push_back(std::move(start));
  }
  return starts;
}

std::vector<NBest> Translator::search_batch(std::span<const Source> sources,
                                            const TranslateOptions& options) const {
  const NoGrad no_grad;
  const PaddedRows batch = padded(sources, source_->special().padding);
  const std::vector<Start> starts = starts_of(sources);
  std::vector<LayerWeights> encoder;
  const Memory memory = model_->encode(
      batch.tokens, batch.lengths, options.observed == ObservedWeights::all ? &encoder : nullptr);
  DecodingSteps steps(model_->output_layer(), std::ssize(sources),
                      model_->start(memory, options.stepping), options.observed);
  SearchOptions bounded = options.search;
  bounded.max_length = std::min(bounded.max_length, model_->max_target() - 1);  // begin
  bounded.min_length = std::min(bounded.min_length, bounded.max_length);
  WatchedSteps watched(steps, [&](std::span<const std::int32_t>) {
    if (options.on_step) options.on_step();
  });
  std::vector<NBest> found = search(watched, starts, plan_for(format_, bounded));
  if (options.observed == ObservedWeights::none) return found;
  for (std::size_t b = 0; b < found.size(); ++b) {
    const std::vector<std::int32_t>& source = sources[b].tokens;
    for (Hypothesis& hypothesis : found[b]) {
      ModelWeights weights{
          .encoder = encoder_of(encoder, static_cast<std::int64_t>(b), std::ssize(source)),
          .decoder = steps.weights_of(hypothesis, std::ssize(source))};
      // An attention that keeps no keys has no weights step by step, but in a pass over the whole.
      if (!is_complete(weights, options.observed)) {
        weights = examine_weights(*this, {source, hypothesis.tokens});
      }
      hypothesis.weights = std::move(weights);
    }
  }
  return found;
}

std::vector<std::vector<Translation>> Translator::translate_batch(
    std::span<const Source> sources, const TranslateOptions& options) const {
  std::vector<std::vector<Translation>> results(sources.size());
  std::vector<Source> spoken;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (is_empty(sources[i].tokens)) {
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
      std::string text = text_of(hypothesis.tokens);
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
  std::vector<std::int32_t> prefix;
  if (!options.prefix.empty()) prefix = target_->encode(options.prefix);
  const auto run = [&](std::span<const std::int64_t> batch, const OnStep& on_step) {
    TranslateOptions checked = options;
    checked.on_step = on_step;
    std::vector<Source> chosen;
    for (const std::int64_t place : batch) {
      chosen.push_back(
          {sources[static_cast<std::size_t>(place)], static_cast<std::uint64_t>(place), prefix});
    }
    auto found = translate_batch(chosen, checked);
    for (std::size_t k = 0; k < batch.size(); ++k) {
      results[static_cast<std::size_t>(batch[k])] = std::move(found[k]);
    }
  };
  for_batches(lengths, {.batch_tokens = options.batch_tokens}, options.on_step, run);
  return results;
}

}  // namespace heed
