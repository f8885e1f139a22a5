// Writes packed corpora (packed_pairs.h): reads text, tokenizes it with all threads and appends the
// pairs in their order. The folder appears when it is complete, or not at all.
//
//   ParallelText text("train.en", "train.de");
//   pack_pairs(text, {.source = english, .target = german}, "packed", {.max_length = 100});
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "heed/data/packed_pairs.h"
#include "heed/data/parallel_corpus.h"
#include "heed/data/parallel_text.h"
#include "heed/text/tokenizer.h"

namespace heed {

struct PackingOptions {
  std::int64_t max_length = 0;  ///< Tokens of either side, at most; 0: what the format holds.
  double max_ratio = 0.0;       ///< Length of the longer side to the shorter; 0: no limit.
  std::int64_t file_bytes = std::int64_t{1} << 30;  ///< A new file begins after so many.
  std::int64_t block_pairs = PackedLayout::kBlockPairs;
  /// Called now and then with the number of pairs read.
  std::function<void(std::int64_t pairs)> progress = [](std::int64_t) {};
};

/// Writes the pairs of a text into a new folder; returns what was kept. A text without pairs is an
/// error.
CorpusReport pack_pairs(ParallelText& text, const TokenizerPair& tokenizers,
                        const std::filesystem::path& folder, const PackingOptions& options = {});

}  // namespace heed
