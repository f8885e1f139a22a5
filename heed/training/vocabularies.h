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

/// Of both sides; a table of one file is read by its columns.
TokenizerPair make_tokenizers(const TrainConfig& config);
/// Of one side: a language model's or a classifier's.
std::shared_ptr<const Tokenizer> make_tokenizer(const TrainConfig& config);

}  // namespace heed
