#include "heed/data/parallel_corpus.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed {
namespace {

bool over(std::int64_t length, std::int64_t limit) { return limit > 0 && length > limit; }

std::int64_t count(std::span<const std::int32_t> tokens, std::int32_t token) {
  return std::count(tokens.begin(), tokens.end(), token);
}

}  // namespace

PairFilter::PairFilter(const PairSpecials& specials, const CorpusOptions& options)
    : specials_(specials), options_(options) {
  HEED_CHECK(options.max_ratio == 0.0 || options.max_ratio >= 1.0,
             "[corpus] max_ratio is {}: it must be 0 (no limit) or at least 1", options.max_ratio);
  HEED_CHECK(
      options.min_length >= 0 && options.max_source_length >= 0 && options.max_target_length >= 0,
      "[corpus] the length limits are {}, {} and {}: none may be negative", options.min_length,
      options.max_source_length, options.max_target_length);
}

bool PairFilter::keeps(std::span<const std::int32_t> source, std::span<const std::int32_t> target,
                       CorpusReport& report) const {
  const auto s = static_cast<std::int64_t>(source.size());
  const auto t = static_cast<std::int64_t>(target.size());
  if (std::min(s, t) < options_.min_length) return ++report.too_short, false;
  if (over(s, options_.max_source_length) || over(t, options_.max_target_length)) {
    return ++report.too_long, false;
  }
  const auto ratio = static_cast<double>(std::max(s, t));
  if (options_.max_ratio > 0.0 && ratio > options_.max_ratio * static_cast<double>(std::min(s, t)))
    return ++report.bad_ratio, false;
  ++report.kept;
  report.source_tokens += s;
  report.target_tokens += t;
  report.source_unknown += count(source, specials_.source.unknown);
  report.target_unknown += count(target, specials_.target.unknown);
  return true;
}

ParallelCorpus::ParallelCorpus(const PairSpecials& specials, const CorpusOptions& options)
    : specials_(specials), options_(options), filter_(specials, options) {}

bool ParallelCorpus::add(std::span<const std::int32_t> source,
                         std::span<const std::int32_t> target) {
  if (!filter_.keeps(source, target, report_)) return false;
  sources_.add(source);
  if (options_.end_source) sources_.extend_last(specials_.source.end);
  targets_.add(target);
  return true;
}

bool ParallelCorpus::add(std::span<const std::int32_t> source, std::span<const std::int32_t> target,
                         const CopiedWords& copied) {
  HEED_ASSERT(copies_.size() == sources_.size());
  if (!add(source, target)) return false;
  HEED_ASSERT(std::ssize(copied.ids) == sources_.length(size() - 1));
  copies_.add(copied.ids);
  target_vocabulary_ = copied.vocabulary;
  return true;
}

std::vector<PairLength> ParallelCorpus::lengths() const {
  std::vector<PairLength> all;
  all.reserve(static_cast<std::size_t>(size()));
  for (std::int64_t pair = 0; pair < size(); ++pair) {
    all.push_back({static_cast<std::int32_t>(sources_.length(pair)),
                   static_cast<std::int32_t>(targets_.length(pair)) + 1});
  }
  return all;
}

bool add_pair(ParallelCorpus& corpus, const PairReader& reader, const TextPair& pair) {
  const std::vector<std::int32_t> source = reader.source(pair.source);
  if (reader.copies == nullptr) return corpus.add(source, reader.target(pair.target));
  std::vector<std::int32_t> read = source;
  if (corpus.ends_sources()) read.push_back(corpus.specials().source.end);
  const CopiedWords copied = reader.copies->read(pair.source, read);
  return corpus.add(source, reader.copies->read_target(pair.target, copied), copied);
}

ParallelCorpus read_corpus(ParallelText& text, const PairReader& reader,
                           const PairSpecials& specials, const CorpusOptions& options) {
  ParallelCorpus corpus(specials, options);
  for (TextPair pair; text.next(pair);) add_pair(corpus, reader, pair);
  return corpus;
}

ParallelCorpus read_corpus(ParallelText& text, const Tokenizer& source, const Tokenizer& target,
                           const CorpusOptions& options) {
  return read_corpus(text,
                     {.source = [&](std::string_view line) { return source.encode(line); },
                      .target = [&](std::string_view line) { return target.encode(line); }},
                     {source.special(), target.special()}, options);
}

std::string describe(const CorpusReport& report) {
  std::string text = fmt::format("{} pairs kept", report.kept);
  const auto dropped = [&](std::int64_t n, const char* why) {
    if (n > 0) text += fmt::format(", {} {}", n, why);
  };
  dropped(report.too_long, "too long");
  dropped(report.too_short, "too short");
  dropped(report.bad_ratio, "of unequal length");
  const auto unknown = [&](std::int64_t n, std::int64_t of, const char* side) {
    if (n == 0) return;
    text += fmt::format("; {:.3g} % of {} tokens unknown",
                        100.0 * static_cast<double>(n) / static_cast<double>(of), side);
  };
  unknown(report.source_unknown, report.source_tokens, "source");
  unknown(report.target_unknown, report.target_tokens, "target");
  return text;
}

}  // namespace heed
