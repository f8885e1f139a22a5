#include "heed/generation/generate.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/generation/endless_steps.h"
#include "heed/generation/json_rule.h"
#include "heed/generation/plan.h"
#include "heed/generation/search.h"
#include "heed/generation/stop_text.h"
#include "heed/generation/watched_steps.h"
#include "heed/io/config.h"
#include "heed/text/decode_stream.h"

namespace heed {
namespace {

using Tokens = std::vector<std::int32_t>;

// Whether the search follows a single sequence, so that its text can be told as it grows.
bool is_single(const SearchOptions& options) {
  return options.method == SearchMethod::sample ? options.n_best == 1 : options.beam_size == 1;
}

// Passes on the text of one sequence, except an end that may be the beginning of a stop string.
class Teller {
 public:
  Teller(const DecodeStream& begun, const GenerateOptions& options, const GenerateHooks& hooks)
      : stream_(begun), stops_(options.stop), on_text_(hooks.on_text) {}

  void add(std::int32_t token) {
    text_ += stream_.add(token);
    tell(text_.size() - count_held_back(text_, stops_));
  }
  /// The rest of the whole text.
  void finish(std::string whole) {
    text_ = std::move(whole);
    tell(text_.size());
  }

 private:
  void tell(std::size_t end) {
    if (end <= told_) return;
    on_text_(text_.substr(told_, end - told_));
    told_ = end;
  }

  DecodeStream stream_;
  std::span<const std::string> stops_;
  const std::function<void(const std::string& text)>& on_text_;
  std::string text_;
  std::size_t told_ = 0;
};

SearchPlan plan_of(const TextGenerator& generator, const Prompt& prompt,
                   const GenerateOptions& options) {
  const Tokenizer& tokenizer = *generator.tokenizer;
  SearchOptions search = options.search;
  if (options.ignore_end || generator.ends.empty()) search.min_length = search.max_length;
  const SpecialTokens special = tokenizer.special();
  SearchPlan plan =
      make_plan(search, special, generator.ends.empty() ? Tokens{special.end} : generator.ends,
                prompt.tokens);
  plan.is_cut = true;
  if (!options.stop.empty()) plan.stop = stop_at(tokenizer, options.stop, prompt.tokens);
  if (options.json_object) {
    JsonRule json = require_json(tokenizer, prompt.tokens);
    plan.rules.push_back(std::move(json.rule));
    plan.stop = [before = std::move(plan.stop),
                 complete = std::move(json.stop)](std::span<const std::int32_t> tokens) {
      return complete(tokens) || (before && before(tokens));
    };
  }
  // A model may have more outputs than there are tokens, so that their number is a round one.
  const std::int64_t outputs = generator.model->vocabulary(), tokens = tokenizer.size();
  if (outputs > tokens) {
    Tokens unused(static_cast<std::size_t>(outputs - tokens));
    std::iota(unused.begin(), unused.end(), static_cast<std::int32_t>(tokens));
    plan.rules.push_back(ban_tokens(std::move(unused)));
  }
  return plan;
}

// The text of a result, which a stop string may cut.
GeneratedText text_of(const Hypothesis& found, DecodeStream stream,
                      std::span<const std::string> stops) {
  GeneratedText result{.text = "", .hypothesis = found};
  for (const std::int32_t token : found.tokens) result.text += stream.add(token);
  result.text += stream.finish();
  if (const auto stop = find_stop(result.text, stops)) {
    result.text.resize(*stop);
    result.hypothesis.finish = Finish::stop;
  }
  return result;
}

}  // namespace

void GenerateOptions::fields(io::Fields& field) {
  field("method", search.method, "take the most probable tokens, or sample");
  field("beam_size", search.beam_size, "number of hypotheses; 1: greedy search", kBeamLimits);
  field("n_best", search.n_best, "number of texts for each prompt", kBeamLimits);
  field("max_length", search.max_length, "maximum number of tokens of a text", {.min = 0});
  field("ignore_end", ignore_end, "continue to max_length; the tokens that end texts are not used");
  field("stop", stop, "strings at which a text ends; it does not contain them");
  field("json_object", json_object, "the text is a JSON object, complete unless it is too long");
  search.choice_fields(field);
}

void GenerateOptions::validate() const {
  search.validate();
  HEED_CHECK(std::ranges::count(stop, "") == 0,
             "[generate] a stop string is empty: give at least one character");
}

GenerateOptions usual_options(const TextGenerator& generator) {
  GenerateOptions options;
  io::set_fields(options, generator.options);
  return options;
}

Prompt read_prompt(const TextGenerator& generator, std::string_view text) {
  const Tokenizer& tokenizer = *generator.tokenizer;
  Prompt prompt{.tokens = tokenizer.encode_with_special(text), .text = ""};
  const std::optional<std::int32_t> begin = generator.begin;
  if (begin && (prompt.tokens.empty() || prompt.tokens[0] != *begin)) {
    prompt.tokens.insert(prompt.tokens.begin(), *begin);
  }
  if (!prompt.tokens.empty()) {
    DecodeStream stream(tokenizer);
    for (const std::int32_t token : prompt.tokens) prompt.text += stream.add(token);
    return prompt;
  }
  const SpecialTokens special = tokenizer.special();
  if (generator.ends.empty()) prompt.tokens = tokenizer.encode("\n");
  if (prompt.tokens.empty() || std::ranges::count(prompt.tokens, special.unknown) > 0) {
    prompt.tokens = {special.begin};
  }
  return prompt;
}

std::vector<GeneratedText> generate_text(const TextGenerator& generator, const Prompt& prompt,
                                         const GenerateOptions& options,
                                         const GenerateHooks& hooks) {
  options.validate();
  EndlessSteps steps(*generator.model, 1, prompt.tokens, generator.model->max_length());
  return generate_text(generator, prompt, options, hooks, steps);
}

std::vector<GeneratedText> generate_text(const TextGenerator& generator, const Prompt& prompt,
                                         const GenerateOptions& options, const GenerateHooks& hooks,
                                         EndlessSteps& steps) {
  const NoGrad no_grad;
  options.validate();
  // The text of a token may depend on those before it, the prompt's too.
  DecodeStream begun(*generator.tokenizer);
  for (const std::int32_t token : prompt.tokens) begun.add(token);
  Teller teller(begun, options, hooks);
  const bool tells = hooks.on_text && is_single(options.search);
  bool is_begun = false;
  WatchedSteps watched(steps, [&](std::span<const std::int32_t> last) {
    if (hooks.on_step) hooks.on_step();
    const bool is_chosen = std::exchange(is_begun, true);  // the first is the prompt's
    if (is_chosen && tells && last.size() == 1) teller.add(last[0]);
  });
  const Start start{
      .token = prompt.tokens.back(), .source_length = std::nullopt, .stream = hooks.stream};
  const SearchPlan plan = plan_of(generator, prompt, options);
  const std::vector<NBest> found_all = search(watched, {&start, 1}, plan);
  std::vector<GeneratedText> results;
  for (const Hypothesis& found : found_all[0]) {
    results.push_back(text_of(found, begun, options.stop));
  }
  if (tells && !results.empty()) teller.finish(results[0].text);
  return results;
}

}  // namespace heed
