// A model that answers cloze questions, as folders hold it, and the words that it finds.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heed/data/cloze.h"
#include "heed/models/model.h"

namespace heed {

struct FolderFormat;

/// Task::read.
struct ClozeReader {
  std::unique_ptr<ReadingModel> model;
  std::shared_ptr<const Tokenizer> tokenizer;  ///< Of words.
};

/// The format of its folders (folder_format.h).
extern const FolderFormat kClozeReaderFolder;

/// A batch as the model reads it.
Passages passages_of(const ClozeBatch& batch);

/// The most probable candidate (cloze.h) of a passage.
struct BestCandidate {
  std::int64_t number = 0;
  double probability = 0.0;
};
/// The most probable candidate of each row: probabilities f32 [B, T] and candidates i64 [B, T] of
/// the words of passages. Of equals, the first.
std::vector<BestCandidate> best_candidates(const Tensor& probabilities, const Tensor& candidates);

/// An answer to a question.
struct FoundWord {
  std::string word;
  double probability = 0.0;
};
/// The most probable word of each passage. Throws if a question has no blank or no passage.
std::vector<FoundWord> read_questions(const ClozeReader& reader,
                                      std::span<const ClozeQuestion> questions);

}  // namespace heed
