// Batches shaped like those of Multi30k English to German: real sentence lengths, random words. The
// corpus is looked for in HEED_DATA; without it, lengths are drawn to be like its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/data/batch.h"

namespace heed::bench {

struct CorpusShape {
  std::int64_t vocabulary = 10000;
  std::int64_t batch_tokens = 4096;  // padding included, of the longer side
  std::int64_t batches = 2;          // taken evenly from the short ones to the long ones
};

/// Batches of sentences of similar length, the same ones in every run.
std::vector<Batch> multi30k_batches(const CorpusShape& shape);

/// Where the lengths come from, for the record.
std::string lengths_source();

}  // namespace heed::bench
