#include "heed/generation/generation_request.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "heed/base/error.h"
#include "heed/generation/json_rule.h"
#include "heed/generation/plan.h"
#include "heed/generation/stop_text.h"

namespace heed {
namespace {

using Tokens = std::vector<std::int32_t>;

// The text of a token may depend on those before it, the prompt's too.
DecodeStream begin_after(const TextGenerator& generator, const Prompt& prompt) {
  DecodeStream begun(*generator.tokenizer);
  for (const std::int32_t token : prompt.tokens) begun.add(token);
  return begun;
}

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

void check_prompt(const TextGenerator& generator, const Prompt& prompt) {
  HEED_CHECK(!prompt.tokens.empty(),
             "[generate] the prompt has no tokens: give at least one character");
  HEED_CHECK(std::ssize(prompt.tokens) <= generator.model->max_length(),
             "[generate] a prompt of {} tokens: the model has {} positions; shorten it",
             prompt.tokens.size(), generator.model->max_length());
}

bool fits_positions(const TextGenerator& generator, const Prompt& prompt,
                    const GenerateOptions& options) {
  return options.search.max_length <= generator.model->max_length() - std::ssize(prompt.tokens);
}

Request generation_request(const TextGenerator& generator, const Prompt& prompt,
                           const GenerateOptions& options, std::uint64_t stream) {
  HEED_ASSERT(!prompt.tokens.empty());
  return {.prompt = Tokens(prompt.tokens.begin(), prompt.tokens.end() - 1),
          .start =
              Start{.token = prompt.tokens.back(), .source_length = std::nullopt, .stream = stream},
          .plan = std::make_shared<const SearchPlan>(plan_of(generator, prompt, options))};
}

std::vector<GeneratedText> texts_of(const TextGenerator& generator, const Prompt& prompt,
                                    const GenerateOptions& options, const NBest& found) {
  const DecodeStream begun = begin_after(generator, prompt);
  std::vector<GeneratedText> results;
  for (const Hypothesis& one : found) results.push_back(text_of(one, begun, options.stop));
  return results;
}

TextTeller::TextTeller(const TextGenerator& generator, const Prompt& prompt,
                       const GenerateOptions& options, OnText on_text)
    : stream_(begin_after(generator, prompt)), stops_(options.stop), on_text_(std::move(on_text)) {}

void TextTeller::add(std::int32_t token) {
  text_ += stream_.add(token);
  tell(text_.size() - count_held_back(text_, stops_));
}

void TextTeller::finish(std::string whole) {
  text_ = std::move(whole);
  tell(text_.size());
}

void TextTeller::tell(std::size_t end) {
  if (end <= told_) return;
  on_text_(text_.substr(told_, end - told_));
  told_ = end;
}

}  // namespace heed
