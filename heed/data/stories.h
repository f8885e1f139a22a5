// Questions about stories in the format of the bAbI tasks (Weston et al. 2015): numbered sentences,
// and questions with an answer after a tab. Number 1 begins a story. What follows a second tab, the
// numbers of supporting sentences, is not used.
//
//   1 Mary moved to the bathroom.
//   2 John went to the hallway.
//   3 Where is Mary?	bathroom	1
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/threads.h"
#include "heed/data/batching.h"
#include "heed/data/epoch_stream.h"
#include "heed/data/line_check.h"
#include "heed/data/question_text.h"
#include "heed/data/token_rows.h"
#include "heed/tensor/tensor.h"
#include "heed/text/tokenizer.h"

namespace heed {

/// A question, as words.
struct StoryQuestion {
  std::vector<std::vector<std::string>> sentences;  ///< Those of the story before it.
  std::vector<std::string> question;
  std::string answer = {};  ///< In lower case, one token even with commas; empty: not said.
  bool continues = false;   ///< The sentences begin with those of the question before.
};

/// The words of a sentence: in lower case, without punctuation at their ends.
std::vector<std::string> story_words(std::string_view text);
/// An answer as it is compared: in lower case, without white space at its ends.
std::string story_answer(std::string_view text);

/// Puts the lines of a file together.
class StoryParser {
 public:
  explicit StoryParser(bool needs_answers = false) : needs_answers_(needs_answers) {}

  using Step = QuestionStep<StoryQuestion>;
  /// Takes the next line. A line is a question if it has a tab, or if it ends in "?" and says no
  /// answer. Questions after a bad sentence of their story are left out.
  Step add(std::string_view line);

 private:
  bool needs_answers_;
  std::vector<std::vector<std::string>> sentences_;
  bool has_asked_ = false;
  bool is_broken_ = false;
};

/// Calls f with the questions of a file, plain or gzip, which must have answers.
void read_stories(const std::filesystem::path& path, OnBad on_bad, BadLines& bad,
                  FunctionRef<void(const StoryQuestion& question)> f);

/// Questions as token ids; the sentences of a story are stored once.
struct StoryCorpus {
  struct Range {
    std::int64_t begin = 0, end = 0;
  };
  TokenRows sentences = {};
  TokenRows questions = {};
  std::vector<Range> memories = {};        ///< The sentences before each question.
  std::vector<std::int32_t> answers = {};  ///< Tokens.
  std::int32_t padding = 0;

  /// The tokenizer must have one token for each word ("words").
  void add(const StoryQuestion& question, const Tokenizer& tokenizer);
  /// Appends the questions [begin, end) of another corpus, which are those of whole stories.
  void append(const StoryCorpus& from, std::int64_t begin, std::int64_t end);
  std::int64_t size() const { return questions.size(); }
  /// The first question of the story that a question belongs to.
  std::int64_t first_of_story(std::int64_t question) const;
};

/// How batches are made.
struct StoryBatching {
  std::int64_t max_sentences = 50;  ///< Sentences before these are forgotten.
  /// Empty sentences that are put between others at random, which changes their ages: at most this
  /// share of the story's.
  double noise = 0.0;
  std::uint64_t seed = 1;  ///< Of the noise.
};

/// Some questions. Rows end in the padding token.
struct StoryBatch {
  Tensor sentences;             ///< i64 [B, M, W]
  Tensor ages;                  ///< i64 [B, M]: 1 for the last sentence; 0: there is none.
  Tensor questions;             ///< i64 [B, S]
  Tensor answers;               ///< i64 [B]
  std::int64_t word_count = 0;  ///< Of the sentences, without padding.
};

/// Makes a batch of the given questions; epoch: of the noise.
StoryBatch make_batch(const StoryCorpus& corpus, std::span<const std::int32_t> questions,
                      const StoryBatching& how, std::int64_t epoch = 0);
/// The lengths of stories, for plan_epoch: all are that of the longest, so that the questions of a
/// batch are drawn from all tasks.
std::vector<PairLength> lengths_of(const StoryCorpus& corpus, std::int64_t max_sentences);

/// An endless stream of batches.
class StoryStream : public EpochStream<StoryBatch> {
 public:
  StoryStream(std::shared_ptr<const StoryCorpus> corpus, const StoryBatching& how,
              const BatchingOptions& options, std::size_t ahead = 4);
};

}  // namespace heed
