#include "heed/generation/generate.h"

#include <algorithm>
#include <utility>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/generation/decoding_steps.h"
#include "heed/generation/plan.h"
#include "heed/generation/search.h"
#include "heed/generation/watched_steps.h"
#include "heed/text/decode_stream.h"

namespace heed {
namespace {

using Tokens = std::vector<std::int32_t>;

// Steps with a cache until the context is full; then anew from the last half of each row.
class EndlessSteps : public StepModel {
 public:
  EndlessSteps(const CausalModel& model, std::int64_t rows, std::span<const std::int32_t> prompt,
               std::int64_t context)
      : model_(model),
        context_(context),
        read_(static_cast<std::size_t>(rows), Tokens(prompt.begin(), prompt.end() - 1)) {
    begin();
  }

  std::int64_t rows() const override { return std::ssize(read_); }
  std::int64_t vocabulary() const override { return steps_->vocabulary(); }

  Tensor step(std::span<const std::int32_t> last) override {
    if (filled_ == context_) begin();
    ++filled_;
    for (std::size_t row = 0; row < read_.size(); ++row) read_[row].push_back(last[row]);
    return steps_->step(last);
  }

  void reorder(std::span<const std::int64_t> from) override {
    std::vector<Tokens> chosen;
    for (const std::int64_t row : from) chosen.push_back(read_[static_cast<std::size_t>(row)]);
    read_ = std::move(chosen);
    steps_->reorder(from);
  }

 private:
  // There is room for one more token at least, since half of the context is left free.
  void begin() {
    std::unique_ptr<Decoding> decoding = model_.start(rows());
    Tokens kept;
    for (Tokens& row : read_) {
      const auto most = static_cast<std::size_t>(context_ / 2);
      if (std::ssize(row) >= context_) {
        row.erase(row.begin(), row.end() - static_cast<std::ptrdiff_t>(most));
      }
      kept.insert(kept.end(), row.begin(), row.end());
    }
    if (!kept.empty()) decoding->step(ids_of(kept, rows()));
    filled_ = read_.empty() ? 0 : std::ssize(read_[0]);
    steps_ = std::make_unique<DecodingSteps>(model_.output_layer(), rows(), std::move(decoding));
  }

  const CausalModel& model_;
  std::int64_t context_;
  std::vector<Tokens> read_;  // since the context began, of each row
  std::int64_t filled_ = 0;   // how many that is
  std::unique_ptr<StepModel> steps_;
};

}  // namespace

std::unique_ptr<StepModel> make_endless_steps(const CausalModel& model, std::int64_t rows,
                                              std::span<const std::int32_t> prompt,
                                              std::int64_t context) {
  HEED_CHECK(!prompt.empty(), "[generate] the prompt has no tokens: give at least one character");
  HEED_CHECK(context >= 2, "[generate] a context of {} tokens: it must be at least 2", context);
  return std::make_unique<EndlessSteps>(model, rows, prompt, context);
}

void GenerateOptions::fields(io::Fields& field) {
  field("method", search.method, "take the most probable tokens, or sample");
  field("beam_size", search.beam_size, "number of hypotheses; 1: greedy search", kBeamLimits);
  field("n_best", search.n_best, "number of texts for each prompt", kBeamLimits);
  field("max_length", search.max_length, "maximum number of tokens of a text", {.min = 0});
  field("no_repeat_ngram", search.no_repeat_ngram,
        "n-grams of this length may not repeat; 0: no limit", {.min = 0});
  field("allow_unknown", search.allow_unknown, "whether the unknown token may be chosen");
  field("temperature", search.temperature, "sample: softmax(scores / temperature)",
        kTemperatureLimits);
  field("top_k", search.top_k, "sample: only from the k most probable tokens; 0: all", {.min = 0});
  field("top_p", search.top_p,
        "sample: only from the most probable tokens that together reach this probability",
        {.min = 0, .max = 1});
  field("seed", search.seed, "sample: seed of the random numbers");
}

Prompt read_prompt(const TextGenerator& generator, std::string_view text) {
  const Tokenizer& tokenizer = *generator.tokenizer;
  Prompt prompt{.tokens = tokenizer.encode(text), .text = ""};
  if (!prompt.tokens.empty()) {
    DecodeStream stream(tokenizer);
    for (const std::int32_t token : prompt.tokens) prompt.text += stream.add(token);
    return prompt;
  }
  const SpecialTokens special = tokenizer.special();
  prompt.tokens = tokenizer.encode("\n");
  if (prompt.tokens.empty() || std::ranges::count(prompt.tokens, special.unknown) > 0) {
    prompt.tokens = {special.begin};
  }
  return prompt;
}

std::vector<GeneratedText> generate_text(const TextGenerator& generator, const Prompt& prompt,
                                         const GenerateOptions& options,
                                         const GenerateHooks& hooks) {
  const NoGrad no_grad;
  SearchOptions search_options = options.search;
  search_options.min_length = search_options.max_length;
  const bool is_single = search_options.method == SearchMethod::sample
                             ? search_options.n_best == 1
                             : search_options.beam_size == 1;
  // The text of a token may depend on those before it, the prompt's too.
  DecodeStream begun(*generator.tokenizer);
  for (const std::int32_t token : prompt.tokens) begun.add(token);
  DecodeStream told = begun;
  const auto steps =
      make_endless_steps(*generator.model, 1, prompt.tokens, generator.model->max_length());
  bool is_begun = false;
  WatchedSteps watched(*steps, [&](std::span<const std::int32_t> last) {
    if (hooks.on_step) hooks.on_step();
    const bool is_chosen = std::exchange(is_begun, true);  // the first is the prompt's
    if (is_chosen && is_single && last.size() == 1 && hooks.on_text) {
      hooks.on_text(told.add(last[0]));
    }
  });
  const Start start{
      .token = prompt.tokens.back(), .source_length = std::nullopt, .stream = hooks.stream};
  const SearchPlan plan = make_plan(search_options, generator.tokenizer->special());
  const std::vector<NBest> found_all = search(watched, {&start, 1}, plan);
  std::vector<GeneratedText> results;
  for (const Hypothesis& found : found_all[0]) {
    DecodeStream copy = begun;
    std::string text;
    for (const std::int32_t token : found.tokens) text += copy.add(token);
    results.push_back({text + copy.finish(), found});
  }
  if (is_single && hooks.on_text) hooks.on_text(told.finish());
  return results;
}

}  // namespace heed
