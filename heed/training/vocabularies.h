// The tokenizers of a training run: read from files, or made from the training set.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "heed/base/threads.h"
#include "heed/data/parallel_corpus.h"
#include "heed/text/tokenizer.h"
#include "heed/text/vocabulary.h"
#include "heed/training/train_config.h"

namespace heed {

/// The tokenizers of both sides; from a single file with tabs, its columns are read.
TokenizerPair make_tokenizers(const TrainConfig& config);

/// The texts of a training set whose lines are more than text.
using ReadTexts = std::vector<std::string> (*)(const std::filesystem::path& path);

/// The tokenizer of a task with one vocabulary; `read` null: the training set is plain text.
std::shared_ptr<const Tokenizer> make_tokenizer(const TrainConfig& config,
                                                ReadTexts read = nullptr);
/// The same from texts that were read already.
std::shared_ptr<const Tokenizer> make_tokenizer(const TrainConfig& config,
                                                const std::vector<std::string>& texts);

/// The tokenizer of a task whose tokens are always words: read from a file, or made from the words
/// that `count` adds.
std::shared_ptr<const Tokenizer> make_word_list(const TrainConfig& config,
                                                FunctionRef<void(TokenCounter& counter)> count);

}  // namespace heed
