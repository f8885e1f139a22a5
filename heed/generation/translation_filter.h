// A translator as a filter: sources are added one by one, translations come out in the same order,
// and in between the sources are sorted by length into batches. The translation of a source does
// not depend on the other sources.
//
//   TranslationFilter filter(translator, {}, {.window = 1000}, [](const Translated& t) { … });
//   while (read(sentence)) filter.add(translator.read(sentence));
//   filter.flush();
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "heed/generation/ordering.h"
#include "heed/generation/translator.h"

namespace heed {

/// A source and its translations.
struct Translated {
  std::int64_t number = 0;  ///< Number of the source, from 0; also of its stream of random numbers.
  std::vector<std::int32_t> source;  ///< As returned by Translator::read().
  std::vector<Translation> found;  ///< The n best; a single empty one for a source without tokens.
};

class TranslationFilter {
 public:
  using Emit = std::function<void(const Translated&)>;

  /// `ordering` has the options of the batches. The translator must outlive the filter.
  TranslationFilter(const Translator& translator, const TranslateOptions& options,
                    const OrderingOptions& ordering, Emit emit);

  /// Adds the next source; the translation of one without tokens is empty. Translations begin with
  /// the tokens of `prefix`.
  void add(std::vector<std::int32_t> source, std::vector<std::int32_t> prefix = {});
  /// Translates all waiting sources.
  void flush() { filter_.flush(); }

 private:
  using Sources = OrderedFilter<Translator::Source, Translated>;

  Sources filter_;
};

}  // namespace heed
