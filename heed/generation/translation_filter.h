// A translator as a filter: sources are added one by one, and translations come out in the same
// order. The translation of a source does not depend on the other sources.
//
//   TranslationFilter filter(translator, {}, {.window = 1000}, [](const Translated& t) { … });
//   while (read(sentence)) filter.add(translator.read(sentence));
//   filter.flush();
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "heed/generation/request_filter.h"
#include "heed/generation/translator.h"

namespace heed {

/// A source and its translations.
struct Translated {
  std::int64_t number = 0;  ///< Number of the source, from 0; also of its stream of random numbers.
  std::vector<std::int32_t> source = {};  ///< As returned by Translator::read().
  /// The n best; a single empty one for a source without tokens.
  std::vector<Translation> found = {};
};

class TranslationFilter {
 public:
  using Emit = std::function<void(const Translated&)>;

  /// `ordering` has the window and the sizes of batches. The translator must outlive the filter.
  TranslationFilter(const Translator& translator, const TranslateOptions& options,
                    const OrderingOptions& ordering, Emit emit);

  /// Adds the next source; the translation of one without tokens is empty. Translations begin with
  /// the tokens of `prefix`. A model that copies needs Translator::copied() too. Exceptions of
  /// `emit` pass through; the filter must not be used after one.
  void add(std::vector<std::int32_t> source, std::vector<std::int32_t> prefix = {},
           std::shared_ptr<const CopiedWords> copied = {});
  /// Translates all waiting sources.
  void flush() { filter_.flush(); }

  /// How full the steps were.
  StepStatistics statistics() const { return filter_.statistics(); }

 private:
  void translated(std::int64_t number, NBest found);

  const Translator& translator_;
  const TranslateOptions options_;
  const Emit emit_;
  const std::shared_ptr<const SearchPlan> plan_;
  const std::unique_ptr<SequenceModel> model_;
  std::mutex mutex_;
  std::map<std::int64_t, std::vector<std::int32_t>> sources_;  // of those that are not translated
  RequestFilter filter_;
};

}  // namespace heed
