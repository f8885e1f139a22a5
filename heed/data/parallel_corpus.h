// Parallel sentences as token ids, held in memory: about 4 bytes per token. It is made once, in one
// pass over the text; every epoch makes its batches from it.
//
//   ParallelText text("train.en", "train.de");
//   const ParallelCorpus corpus = read_corpus(text, *english, *german, {.max_source_length = 100});
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/data/batching.h"
#include "heed/data/parallel_text.h"
#include "heed/data/token_rows.h"
#include "heed/text/copy_table.h"
#include "heed/text/tokenizer.h"

namespace heed {

/// Selects the pairs that are kept. Lengths count the tokens of the text, without begin and end.
struct CorpusOptions {
  std::int64_t max_source_length = 0;  ///< 0: no limit.
  std::int64_t max_target_length = 0;  ///< 0: no limit.
  std::int64_t min_length = 1;         ///< Applies to both sides.
  double max_ratio = 0.0;              ///< Length of the longer side to the shorter; 0: no limit.
  bool end_source = true;              ///< Sources end with the end token.
};

/// Counts of kept and dropped pairs.
struct CorpusReport {
  std::int64_t kept = 0;
  std::int64_t too_long = 0;
  std::int64_t too_short = 0;
  std::int64_t bad_ratio = 0;
  std::int64_t source_tokens = 0;  ///< Of the kept pairs, without begin and end.
  std::int64_t target_tokens = 0;
  std::int64_t source_unknown = 0;  ///< Unknown tokens in kept pairs.
  std::int64_t target_unknown = 0;
};

/// "29000 pairs kept, 12 too long, 3 of unequal length; 2.1 % of source tokens unknown".
std::string describe(const CorpusReport& report);

/// The special tokens of both sides.
struct PairSpecials {
  SpecialTokens source;
  SpecialTokens target;
};

/// The tokenizers of both sides.
struct TokenizerPair {
  std::shared_ptr<const Tokenizer> source;
  std::shared_ptr<const Tokenizer> target;  ///< The same object if they are shared.
};

/// Says which pairs are kept, and counts.
class PairFilter {
 public:
  PairFilter(const PairSpecials& specials, const CorpusOptions& options);

  /// Whether a pair, without begin and end, is kept; adds it to the report.
  bool keeps(std::span<const std::int32_t> source, std::span<const std::int32_t> target,
             CorpusReport& report) const;

 private:
  PairSpecials specials_;
  CorpusOptions options_;
};

/// Pairs of tokenized sentences.
class ParallelCorpus {
 public:
  ParallelCorpus(const PairSpecials& specials, const CorpusOptions& options);

  /// Adds a pair, without begin and end, unless a filter drops it; returns whether it was added.
  bool add(std::span<const std::int32_t> source, std::span<const std::int32_t> target);
  /// The same for a model that copies: `copied` are the words of the source with its end token if
  /// end_source is set, and the target may have them. All pairs have words, or none.
  bool add(std::span<const std::int32_t> source, std::span<const std::int32_t> target,
           const CopiedWords& copied);

  /// The number of pairs.
  std::int64_t size() const { return sources_.size(); }
  /// A source, with its end token if end_source is set.
  std::span<const std::int32_t> source(std::int64_t pair) const { return sources_[pair]; }
  /// A target without begin and end.
  std::span<const std::int32_t> target(std::int64_t pair) const { return targets_[pair]; }
  /// Whether pairs have the words that a model may copy.
  bool has_copies() const { return copies_.size() > 0; }
  /// The tokens of a source as tokens of the target, from target_vocabulary() on words of its own.
  std::span<const std::int32_t> copies(std::int64_t pair) const { return copies_[pair]; }
  std::int64_t target_vocabulary() const { return target_vocabulary_; }
  const PairSpecials& specials() const { return specials_; }
  bool ends_sources() const { return options_.end_source; }
  const CorpusReport& report() const { return report_; }
  /// The lengths of all pairs in a batch, including begin or end of the target.
  std::vector<PairLength> lengths() const;

 private:
  PairSpecials specials_;
  CorpusOptions options_;
  PairFilter filter_;
  TokenRows sources_;
  TokenRows targets_;
  TokenRows copies_;                    // of models that copy
  std::int64_t target_vocabulary_ = 0;  // of those
  CorpusReport report_;
};

/// How the sentences of both sides become tokens, without begin and end of the target.
struct PairReader {
  std::function<std::vector<std::int32_t>(std::string_view)> source, target;
  const CopyTable* copies = nullptr;  ///< Of a model that copies words of the source.
};

/// Adds a pair of sentences.
bool add_pair(ParallelCorpus& corpus, const PairReader& reader, const TextPair& pair);

/// Reads all pairs of a text.
ParallelCorpus read_corpus(ParallelText& text, const PairReader& reader,
                           const PairSpecials& specials, const CorpusOptions& options = {});
/// The same with the tokens of two tokenizers.
ParallelCorpus read_corpus(ParallelText& text, const Tokenizer& source, const Tokenizer& target,
                           const CorpusOptions& options = {});

}  // namespace heed
