#include "heed/data/cloze.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <unordered_map>
#include <utility>

#include "heed/base/error.h"
#include "heed/io/lines.h"
#include "heed/io/value.h"
#include "heed/tensor/create.h"
#include "heed/tensor/padding.h"
#include "heed/text/words.h"

namespace heed {
namespace {

constexpr std::string_view kColumnEnd = "|||";
constexpr std::string_view kClozeForm =
    "lines are NUMBER ||| SENTENCE, and the last of a passage NUMBER ||| QUESTION ||| ANSWER";

LineFault cloze_fault(std::string what) { return {BadLine::columns, std::move(what)}; }

std::vector<std::string_view> columns_of(std::string_view line) {
  std::vector<std::string_view> columns;
  for (std::size_t at = line.find(kColumnEnd); at != line.npos; at = line.find(kColumnEnd)) {
    columns.push_back(line.substr(0, at));
    line.remove_prefix(at + kColumnEnd.size());
  }
  columns.push_back(line);
  return columns;
}

}  // namespace

std::vector<std::string> cloze_words(std::string_view text) {
  std::vector<std::string> words;
  for (std::string_view word : split_at_spaces(text)) {
    for (std::size_t at = word.find(kBlank); at != word.npos; at = word.find(kBlank)) {
      if (at > 0) words.emplace_back(word.substr(0, at));
      words.emplace_back(kBlank);
      word.remove_prefix(at + kBlank.size());
    }
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

std::optional<LineFault> find_fault(const ClozeQuestion& question) {
  if (question.passage.empty()) return cloze_fault("asks about a passage without words");
  if (std::ranges::find(question.question, kBlank) == question.question.end()) {
    return cloze_fault(fmt::format("has a question without {}, the blank", kBlank));
  }
  if (!question.answer.empty() &&
      std::ranges::find(question.passage, question.answer) == question.passage.end()) {
    return cloze_fault(fmt::format("has the answer {}, which is not a word of its passage",
                                   io::in_quotes(question.answer)));
  }
  return {};
}

// ---- lines --------------------------------------------------------------------------------------

std::optional<LineFault> ClozeParser::finish() {
  const bool is_open = !passage_.empty() && !is_broken_;
  passage_.clear();
  is_broken_ = false;
  if (!is_open) return {};
  return cloze_fault(fmt::format("leaves a passage without a question: {}", kClozeForm));
}

ClozeParser::Step ClozeParser::add(std::string_view line) {
  if (auto found = find_fault(line, std::numeric_limits<std::size_t>::max())) {
    if (found->kind == BadLine::empty && passage_.empty()) return {};  // between two passages
    is_broken_ = true;
    return {.fault = std::move(found)};
  }
  const std::vector<std::string_view> columns = columns_of(line);
  const std::optional<std::int64_t> number = line_number(columns[0]);
  Step step{.asks = columns.size() == 3};
  if (!number || columns.size() < 2 || columns.size() > 3) {
    passage_.clear();
    is_broken_ = !step.asks;
    step.fault =
        cloze_fault(fmt::format("has {} and {} columns: {}", number ? "a number" : "no number",
                                columns.size(), kClozeForm));
    return step;
  }
  if (*number == 1) step.fault = finish();
  if (!step.asks) {
    if (!is_broken_) std::ranges::move(cloze_words(columns[1]), std::back_inserter(passage_));
    return step;
  }
  ClozeQuestion question{.passage = std::exchange(passage_, {}),
                         .question = cloze_words(columns[1]),
                         .answer = std::string(trimmed(columns[2]))};
  if (std::exchange(is_broken_, false) || step.fault) return step;
  step.fault = find_fault(question);
  if (needs_answers_ && question.answer.empty()) {
    step.fault = cloze_fault(fmt::format("has a question without an answer: {}", kClozeForm));
  }
  if (!step.fault) step.question = std::move(question);
  return step;
}

void read_cloze(const std::filesystem::path& path, OnBad on_bad, BadLines& bad,
                FunctionRef<void(const ClozeQuestion& question)> f) {
  io::LineReader reader(path);
  ClozeParser parser(true);
  for (std::string line; reader.next(line);) {
    const ClozeParser::Step step = parser.add(line);
    if (step.fault) bad.add(*step.fault, reader.place(), on_bad);
    if (step.question) f(*step.question);
  }
  if (const auto found = parser.finish()) bad.add(*found, reader.place(), on_bad);
}

// ---- batches ------------------------------------------------------------------------------------

void ClozeCorpus::add(const ClozeQuestion& question, const Tokenizer& tokenizer) {
  padding = tokenizer.special().padding;
  passages.add(word_ids(tokenizer, question.passage));
  questions.add(word_ids(tokenizer, question.question));
  std::unordered_map<std::string_view, std::int32_t> numbers;
  std::vector<std::int32_t> all;
  for (const std::string& word : question.passage) {
    all.push_back(numbers.emplace(word, static_cast<std::int32_t>(numbers.size())).first->second);
  }
  candidates.add(all);
  const auto found = numbers.find(question.answer);
  answers.push_back(found != numbers.end() ? found->second : -1);
}

ClozeBatch make_batch(const ClozeCorpus& corpus, std::span<const std::int32_t> questions) {
  std::vector<std::span<const std::int32_t>> words, candidates, asked;
  Tensor answers = empty({std::ssize(questions), 1}, DType::i64);
  std::int64_t* answer = answers.mutable_data<std::int64_t>();
  for (const std::int32_t i : questions) {
    words.push_back(corpus.passages[i]);
    candidates.push_back(corpus.candidates[i]);
    asked.push_back(corpus.questions[i]);
    *answer++ = corpus.answers[static_cast<std::size_t>(i)];
  }
  PaddedRows passage = pad_rows(words, corpus.padding);
  PaddedRows question = pad_rows(asked, corpus.padding);
  return {.words = std::move(passage.tokens),
          .lengths = std::move(passage.lengths),
          .questions = std::move(question.tokens),
          .question_lengths = std::move(question.lengths),
          .candidates = pad_rows(candidates, -1).tokens,
          .answers = std::move(answers),
          .word_count = passage.total};
}

std::vector<PairLength> lengths_of(const ClozeCorpus& corpus) {
  std::vector<PairLength> all;
  for (std::int64_t i = 0; i < corpus.size(); ++i) {
    all.push_back({static_cast<std::int32_t>(corpus.passages.length(i)),
                   static_cast<std::int32_t>(corpus.questions.length(i))});
  }
  return all;
}

ClozeStream::ClozeStream(std::shared_ptr<const ClozeCorpus> corpus, const BatchingOptions& options,
                         std::size_t ahead)
    : EpochStream({.plan = [lengths = lengths_of(*corpus), options](
                               std::int64_t epoch) { return plan_epoch(lengths, options, epoch); },
                   .make = [corpus](std::span<const std::int32_t> rows,
                                    std::int64_t) { return make_batch(*corpus, rows); }},
                  ahead) {}

}  // namespace heed
