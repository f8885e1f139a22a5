#include "heed/generation/translation_filter.h"

#include <utility>

namespace heed {

TranslationFilter::TranslationFilter(const Translator& translator, const TranslateOptions& options,
                                     const OrderingOptions& ordering, Emit emit)
    : filter_(
          ordering,
          [&translator, options](std::span<const Sources::Item> batch, const OnStep& on_step) {
            TranslateOptions checked = options;
            checked.on_step = on_step;
            std::vector<Translator::Source> sources;
            for (const auto& [number, source] : batch) {
              sources.push_back(source);
              sources.back().stream = static_cast<std::uint64_t>(number);
            }
            auto found = translator.translate_batch(sources, checked);
            std::vector<Translated> results;
            for (std::size_t i = 0; i < batch.size(); ++i) {
              results.push_back(
                  {batch[i].number, std::move(sources[i].tokens), std::move(found[i])});
            }
            return results;
          },
          [emit = std::move(emit)](std::int64_t, const Translated& translated) {
            emit(translated);
          },
          options.on_step) {}

void TranslationFilter::add(std::vector<std::int32_t> source, std::vector<std::int32_t> prefix) {
  const std::int64_t length = std::ssize(source);
  filter_.add({.tokens = std::move(source), .prefix = std::move(prefix)}, length);
}

}  // namespace heed
