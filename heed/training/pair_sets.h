// Pairs of texts, as train_sets and valid_sets name them: two files, or one with tabs.
#pragma once

#include <string>
#include <vector>

#include "heed/data/parallel_corpus.h"
#include "heed/data/parallel_text.h"
#include "heed/training/train_config.h"

namespace heed {

/// The text of one or two files.
ParallelText open_pairs(const std::vector<std::string>& sets, const TrainConfig& config);

/// Notes what was read; a corpus without pairs is an error.
void note_corpus(const std::string& name, const ParallelText& text, const ParallelCorpus& corpus,
                 std::vector<std::string>& notes);

}  // namespace heed
