// Cloze questions about passages of text whose words are separated by spaces, in the format of Cui
// et al. (2016): numbered lines, of which the last of a passage is the question and its answer.
// XXXXX is the blank, and the answer is a word of the passage.
//
//   1 ||| 小 猫 有 一 双 眼睛 。
//   2 ||| 它 的 耳朵 很 灵敏 。
//   3 ||| 小 猫 的 XXXXX 很 灵敏 。 ||| 耳朵
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

/// What stands for the missing word.
inline constexpr std::string_view kBlank = "XXXXX";

/// A question, as words.
struct ClozeQuestion {
  std::vector<std::string> passage;
  std::vector<std::string> question;
  std::string answer = {};  ///< Empty: the file does not say it.
};

/// The words of a text; the blank is a word of its own, whatever stands beside it.
std::vector<std::string> cloze_words(std::string_view text);
/// What is wrong with a question, if anything is: "has no blank, XXXXX".
std::optional<LineFault> find_fault(const ClozeQuestion& question);

/// Puts the lines of a file together.
class ClozeParser {
 public:
  explicit ClozeParser(bool needs_answers = false) : needs_answers_(needs_answers) {}

  using Step = QuestionStep<ClozeQuestion>;
  /// Takes the next line. A question with a bad line in its passage is left out.
  Step add(std::string_view line);
  /// To be called at the end of a file, where a passage may be left without a question.
  std::optional<LineFault> finish();

 private:
  bool needs_answers_;
  std::vector<std::string> passage_;
  bool is_broken_ = false;  // a line of the passage was bad
};

/// Calls f with the questions of a file, plain or gzip, which must have answers.
void read_cloze(const std::filesystem::path& path, OnBad on_bad, BadLines& bad,
                FunctionRef<void(const ClozeQuestion& question)> f);

/// Questions as token ids. The candidates of a passage are its different words, numbered by first
/// occurrence, so that words which are not in the vocabulary can be told apart.
struct ClozeCorpus {
  TokenRows passages = {};
  TokenRows candidates = {};  ///< The candidate at each word of a passage.
  TokenRows questions = {};
  std::vector<std::int32_t> answers = {};  ///< Candidates; -1: not said.
  std::int32_t padding = 0;

  /// The tokenizer must have one token for each word ("words").
  void add(const ClozeQuestion& question, const Tokenizer& tokenizer);
  std::int64_t size() const { return passages.size(); }
};

/// Some questions.
struct ClozeBatch {
  Tensor words, lengths;               ///< i64 [B, T] and [B]: the passages.
  Tensor questions, question_lengths;  ///< i64 [B, S] and [B]
  Tensor candidates;                   ///< i64 [B, T]; -1 after the end of a passage.
  Tensor answers;                      ///< i64 [B, 1]
  std::int64_t word_count = 0;         ///< Of the passages, without padding.
};

/// Makes a batch of the given questions.
ClozeBatch make_batch(const ClozeCorpus& corpus, std::span<const std::int32_t> questions);
/// The lengths of passages and questions, for plan_epoch.
std::vector<PairLength> lengths_of(const ClozeCorpus& corpus);

/// An endless stream of batches.
class ClozeStream : public EpochStream<ClozeBatch> {
 public:
  ClozeStream(std::shared_ptr<const ClozeCorpus> corpus, const BatchingOptions& options,
              std::size_t ahead = 4);
};

}  // namespace heed
