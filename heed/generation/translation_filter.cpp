#include "heed/generation/translation_filter.h"

#include <utility>

namespace heed {

TranslationFilter::TranslationFilter(const Translator& translator, const TranslateOptions& options,
                                     const OrderingOptions& ordering, Emit emit)
    : translator_(translator),
      options_(options),
      emit_(std::move(emit)),
      plan_(translator.plan(options)),
      model_(translator.sequences(options)),
      filter_(
          *model_, options.scheduling, ordering,
          [this](std::int64_t number, NBest found) { translated(number, std::move(found)); },
          options.on_step) {}

void TranslationFilter::add(std::vector<std::int32_t> source, std::vector<std::int32_t> prefix,
                            std::shared_ptr<const CopiedWords> copied) {
  const std::int64_t number = filter_.next();
  {
    const std::lock_guard lock(mutex_);
    sources_.emplace(number, source);
  }
  if (translator_.is_empty(source)) return filter_.add_known({Hypothesis()});
  filter_.add(translator_.request_of({.tokens = std::move(source),
                                      .stream = static_cast<std::uint64_t>(number),
                                      .prefix = std::move(prefix),
                                      .copied = std::move(copied)},
                                     plan_));
}

void TranslationFilter::translated(std::int64_t number, NBest found) {
  Translated result{.number = number};
  {
    const std::lock_guard lock(mutex_);
    result.source = std::move(sources_.extract(number).mapped());
  }
  result.found = translator_.translations_of(result.source, std::move(found), options_);
  emit_(result);
}

}  // namespace heed
