// Which target tokens are translations of which source tokens, and how probable: the table of IBM
// model 1 (Brown et al. 1993), estimated from parallel sentences. A list of candidates for fast
// translation is made of it (heed/generation/shortlist.h).
#pragma once

#include <cstdint>
#include <vector>

#include "heed/data/parallel_corpus.h"
#include "heed/io/fields.h"
#include "heed/text/lexical_entry.h"

namespace heed {

struct LexiconOptions {
  std::int64_t best = 100;        // targets of a source token, at most
  std::int64_t iterations = 5;    // of expectation-maximisation
  double min_probability = 1e-4;  // less probable targets are left out

  void fields(io::Fields& field);
};

/// Estimates the table: entries by source token, the most probable target first. Tokens that
/// translate nothing (articles, say) are explained by an empty source token, which is in every
/// sentence and not in the table. Memory and time grow with the number of different pairs of tokens
/// that are in one pair of sentences. Can be interrupted (heed/base/interrupt.h).
std::vector<LexicalEntry> estimate_lexicon(const ParallelCorpus& corpus,
                                           const LexiconOptions& options = {});

}  // namespace heed
