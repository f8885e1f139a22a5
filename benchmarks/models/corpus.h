// Batches with the shapes of Multi30k English to German: real sentence lengths, random words. The
// corpus is searched in HEED_DATA; without it, similar lengths are drawn at random.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "heed/data/batch.h"
#include "heed/nn/module.h"

namespace heed::bench {

struct CorpusShape {
  std::int64_t vocabulary = 10000;
  std::int64_t batch_tokens = 4096;  // of the longer side, including padding
  std::int64_t batches = 2;          // taken evenly from the short ones to the long ones
};

/// Batches of sentences of similar length, the same ones in every run.
std::vector<Batch> multi30k_batches(const CorpusShape& shape);

/// The tensors with those of the batches, "batch.0.source" and so on, for the peer.
std::vector<NamedTensor> with_batches(std::vector<NamedTensor> tensors,
                                      std::span<const Batch> batches);

/// The source of the lengths, for the report.
std::string lengths_source();

}  // namespace heed::bench
