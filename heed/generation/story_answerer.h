// A model that answers questions about stories, as folders hold it, and its answers.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/data/stories.h"
#include "heed/models/model.h"

namespace heed {

struct FolderFormat;

/// Task::answer.
struct StoryAnswerer {
  std::unique_ptr<AnsweringModel> model;
  std::shared_ptr<const Tokenizer> tokenizer;  ///< Of words.
};

/// The format of its folders (folder_format.h).
extern const FolderFormat kStoryAnswererFolder;

/// A batch as the model reads it.
Stories stories_of(const StoryBatch& batch);

/// An answer and its probability.
struct StoryAnswer {
  std::string answer;
  double probability = 0.0;
};
/// The most probable answers. Throws if a question has no words.
std::vector<StoryAnswer> answer_questions(const StoryAnswerer& answerer,
                                          std::span<const StoryQuestion> questions);

/// A text whose last sentence is the question; sentences end in ".", "?", "!" or a line end.
StoryQuestion parse_story(std::string_view text);

}  // namespace heed
