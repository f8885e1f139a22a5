// A translator as a filter: sources go in one by one, translations come out in the same order, and
// in between they are sorted by length into batches. What a source is translated to does not depend
// on its neighbours.
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

/// A source and what was found for it.
struct Translated {
  std::int64_t number = 0;           ///< Of the source, from 0; of its random numbers too.
  std::vector<std::int32_t> source;  ///< As Translator::read() gives it.
  std::vector<Translation> found;    ///< The n best; one that is empty for a source without tokens.
};

class TranslationFilter {
 public:
  using Emit = std::function<void(const Translated&)>;

  /// The batches are those of `ordering`. The translator must outlive the filter.
  TranslationFilter(const Translator& translator, const TranslateOptions& options,
                    const OrderingOptions& ordering, Emit emit);

  /// Takes the next source; one without tokens is passed on as nothing.
  void add(std::vector<std::int32_t> source);
  /// Translates all that waits.
  void flush() { filter_.flush(); }

 private:
  using Sources = OrderedFilter<std::vector<std::int32_t>, Translated>;

  Sources filter_;
};

}  // namespace heed
