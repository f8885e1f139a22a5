// The loop of `heed read` and `heed answer`: lines are put together to questions, which are
// answered in batches, a line each.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/filter_io.h"
#include "cli/model_flags.h"
#include "heed/base/error.h"

namespace heed::cli {

struct QuestionFlags {
  ModelFlags model;
  FilterFlags filter;
  std::int64_t batch = 64;
  bool with_score = false;
};
inline void add_question_flags(CLI::App& verb, QuestionFlags& flags, const std::string& model,
                               const std::string& input) {
  add_model_flags(verb, flags.model, model);
  add_filter_flags(verb, flags.filter, input);
  verb.add_flag("--with-score", flags.with_score, "the probability and a tab before each answer");
  verb.add_option("--batch", flags.batch, "questions computed together")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 16))
      ->capture_default_str();
}

/// An answer as a line of the output.
struct AnswerLine {
  std::string answer;
  double probability = 0.0;
};

/// Collects questions and writes a line for each when there are enough for a batch: an empty one
/// for a question that is bad or depends on a bad line. Question has the member `answer`.
template <typename Question>
class QuestionFilter {
 public:
  using Compute = std::function<std::vector<AnswerLine>(const std::vector<Question>& questions)>;
  QuestionFilter(const QuestionFlags& flags, Compute compute)
      : flags_(flags), compute_(std::move(compute)), output_(flags.filter.output) {}

  /// Takes what a line is (data/question_text.h).
  template <typename Step>
  void add(Step step, const std::string& place) {
    if (step.fault && flags_.filter.policy() == OnBadLine::stop) {
      fail("[questions] {} {}: fix the file, or skip bad questions with --on-bad skip", place,
           step.fault->what);
    }
    skipped_ += step.asks && !step.question ? 1 : 0;
    if (step.asks) waiting_.push_back(std::move(step.question));
    if (std::ssize(waiting_) == flags_.batch) flush();
  }
  void flush() {
    check_signals();
    std::vector<Question> known;
    for (const std::optional<Question>& question : waiting_) {
      if (question) known.push_back(*question);
    }
    const std::vector<AnswerLine> found = compute_(known);
    std::size_t next = 0;
    for (const std::optional<Question>& question : waiting_) {
      output_.write(question ? line_of(*question, found[next++]) : "\n");
    }
    waiting_.clear();
  }
  void finish() {
    output_.commit();
    if (skipped_ > 0) print_note(fmt::format("skipped: {} questions", skipped_));
    if (judged_ == 0) return;
    print_note(fmt::format("accuracy {:.2f} %, {} of {} questions",
                           100.0 * static_cast<double>(right_) / static_cast<double>(judged_),
                           right_, judged_));
  }

 private:
  std::string line_of(const Question& question, const AnswerLine& found) {
    if (!question.answer.empty()) {
      ++judged_;
      right_ += found.answer == question.answer ? 1 : 0;
    }
    return flags_.with_score ? fmt::format("{:.4f}\t{}\n", found.probability, found.answer)
                             : found.answer + "\n";
  }

  const QuestionFlags& flags_;
  Compute compute_;
  Output output_;
  std::vector<std::optional<Question>> waiting_;
  std::int64_t judged_ = 0, right_ = 0, skipped_ = 0;
};

}  // namespace heed::cli
