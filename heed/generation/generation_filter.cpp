#include "heed/generation/generation_filter.h"

#include <algorithm>
#include <utility>

#include "heed/generation/generation_request.h"

namespace heed {

GenerationFilter::GenerationFilter(const TextGenerator& generator, const GenerateOptions& options,
                                   const SchedulerOptions& scheduling,
                                   const OrderingOptions& ordering, Emit emit, OnStep on_step)
    : generator_(generator),
      options_(options),
      emit_(std::move(emit)),
      on_step_(std::move(on_step)),
      model_(sequences_of(*generator.model, options.search.cache)),
      filter_(
          *model_, scheduling, ordering,
          [this](std::int64_t number, const NBest& found) { generated(number, found); }, on_step_) {
  options_.validate();
}

void GenerationFilter::add(Prompt prompt, std::uint64_t stream) {
  check_prompt(generator_, prompt);
  {
    const std::lock_guard lock(mutex_);
    waiting_.emplace(filter_.next(), Generated{.prompt = prompt, .stream = stream});
  }
  if (fits_positions(generator_, prompt, options_)) {
    return filter_.add(generation_request(generator_, prompt, options_, stream));
  }
  NBest found;  // longer than the model's positions: computed alone
  for (GeneratedText& text :
       generate_text(generator_, prompt, options_, {.stream = stream, .on_step = on_step_})) {
    found.push_back(std::move(text.hypothesis));
  }
  filter_.add_known(std::move(found));
}

void GenerationFilter::generated(std::int64_t number, const NBest& found) {
  Generated result;
  {
    const std::lock_guard lock(mutex_);
    result = std::move(waiting_.extract(number).mapped());
  }
  result.found = texts_of(generator_, result.prompt, options_, found);
  emit_(result);
}

std::vector<std::vector<GeneratedText>> generate_texts(const TextGenerator& generator,
                                                       std::span<const Prompt> prompts,
                                                       const GenerateOptions& options,
                                                       const SchedulerOptions& scheduling,
                                                       const OnStep& on_step) {
  std::vector<std::vector<GeneratedText>> results(prompts.size());
  GenerationFilter filter(
      generator, options, scheduling,
      {.window = std::max<std::int64_t>(1, std::ssize(prompts)),
       .batch_tokens = scheduling.batch_tokens,
       .batch_sentences = scheduling.batch_sentences},
      [&](const Generated& one) { results[one.stream] = one.found; }, on_step);
  for (std::size_t i = 0; i < prompts.size(); ++i) filter.add(prompts[i], i);
  filter.flush();
  return results;
}

}  // namespace heed
