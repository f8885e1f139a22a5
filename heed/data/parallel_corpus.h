// Parallel sentences as token numbers, held in memory: about 4 bytes a token. It is made once, in
// one pass over the text; batches are cut from it in every epoch.
//
//   ParallelText text("train.en", "train.de");
//   const ParallelCorpus corpus = read_corpus(text, *english, *german, {.max_source_length = 100});
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "heed/data/batching.h"
#include "heed/data/parallel_text.h"
#include "heed/data/token_rows.h"
#include "heed/text/tokenizer.h"

namespace heed {

/// Which pairs are kept. Lengths count the tokens of the text, neither begin nor end.
struct CorpusOptions {
  std::int64_t max_source_length = 0;  ///< 0: no limit.
  std::int64_t max_target_length = 0;  ///< 0: no limit.
  std::int64_t min_length = 1;         ///< Of both sides.
  double max_ratio = 0.0;              ///< The longer side to the shorter; 0: no limit.
  bool end_source = true;              ///< Sources end with the end token.
};

/// What became of the pairs.
struct CorpusReport {
  std::int64_t kept = 0;
  std::int64_t too_long = 0;
  std::int64_t too_short = 0;
  std::int64_t bad_ratio = 0;
  std::int64_t source_tokens = 0;  ///< Of the pairs kept, without begin and end; so the others.
  std::int64_t target_tokens = 0;
  std::int64_t source_unknown = 0;  ///< Tokens that the vocabulary lacks.
  std::int64_t target_unknown = 0;
};

/// "29000 pairs kept, 12 too long, 3 of unequal length; 2.1 % of source tokens unknown".
std::string describe(const CorpusReport& report);

/// The tokens that stand for no text, of both sides.
struct PairSpecials {
  SpecialTokens source;
  SpecialTokens target;
};

class ParallelCorpus {
 public:
  ParallelCorpus(const PairSpecials& specials, const CorpusOptions& options);

  /// Keeps a pair of token rows without begin and end, unless a filter drops it; says whether.
  bool add(std::span<const std::int32_t> source, std::span<const std::int32_t> target);

  /// The number of pairs.
  std::int64_t size() const { return sources_.size(); }
  /// A source with its end token, if it was asked for.
  std::span<const std::int32_t> source(std::int64_t pair) const { return sources_[pair]; }
  /// A target without begin and end.
  std::span<const std::int32_t> target(std::int64_t pair) const { return targets_[pair]; }
  const PairSpecials& specials() const { return specials_; }
  const CorpusReport& report() const { return report_; }
  /// What each pair takes in a batch, where a target has begin before it or end behind it.
  std::vector<PairLength> lengths() const;

 private:
  PairSpecials specials_;
  CorpusOptions options_;
  TokenRows sources_;
  TokenRows targets_;
  CorpusReport report_;
};

/// Reads all pairs of a text.
ParallelCorpus read_corpus(ParallelText& text, const Tokenizer& source, const Tokenizer& target,
                           const CorpusOptions& options = {});

}  // namespace heed
