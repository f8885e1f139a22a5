// The tokenizers of a training run: read from files, or made from the training set.
#pragma once

#include <memory>

#include "heed/text/tokenizer.h"
#include "heed/training/train_config.h"

namespace heed {

struct TokenizerPair {
  std::shared_ptr<const Tokenizer> source;
  std::shared_ptr<const Tokenizer> target;  ///< The same object if they are shared.
};

/// The tokenizers of both sides; from a single file with tabs, its columns are read.
TokenizerPair make_tokenizers(const TrainConfig& config);
/// The tokenizer of one side, for a language model or a classifier.
std::shared_ptr<const Tokenizer> make_tokenizer(const TrainConfig& config);

}  // namespace heed
