#include "heed/data/stories.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "heed/base/error.h"
#include "heed/data/shuffle.h"
#include "heed/io/lines.h"
#include "heed/tensor/create.h"
#include "heed/tensor/padding.h"
#include "heed/text/unicode.h"
#include "heed/text/words.h"

namespace heed {
namespace {

constexpr std::string_view kStoryForm =
    "lines are NUMBER SENTENCE, or NUMBER QUESTION, a tab and ANSWER";

LineFault story_fault(std::string what) { return {BadLine::columns, std::move(what)}; }

// A word without punctuation at its ends.
std::string bare(std::string_view word) {
  std::u32string points = unicode::decode(word);
  const auto is_mark = [](char32_t c) { return unicode::is_punctuation(c); };
  while (!points.empty() && is_mark(points.back())) points.pop_back();
  const auto begin = std::ranges::find_if_not(points, is_mark);
  return unicode::encode({begin, points.end()});
}

// A line after its number.
struct StoryLine {
  std::string_view text;
  std::optional<std::string_view> answer = {};  // empty: it is a question without one
};

StoryLine parts_of(std::string_view text) {
  const std::size_t tab = text.find('\t');
  if (tab == text.npos) {
    text = trimmed(text);
    if (text.ends_with('?') || text.ends_with("？")) return {text, ""};
    return {text};
  }
  const std::string_view rest = text.substr(tab + 1);
  return {trimmed(text.substr(0, tab)), trimmed(rest.substr(0, rest.find('\t')))};
}

// The ages of `count` sentences, oldest first. With noise, some ages are left out at random.
std::vector<std::int64_t> ages_of(std::int64_t count, const StoryBatching& how,
                                  const RandomStream& random) {
  std::uint64_t drawn = 0;
  const auto most = static_cast<std::uint32_t>(std::ceil(how.noise * static_cast<double>(count)));
  const std::int64_t blanks = most > 0 ? random.below(drawn++, most + 1) : 0;
  std::vector<std::int64_t> ages;
  for (std::int64_t age = 1; std::ssize(ages) < count; ++age) {
    const std::int64_t left = count + blanks + 1 - age, wanted = count - std::ssize(ages);
    const bool is_taken =
        left == wanted || random.below(drawn++, static_cast<std::uint32_t>(left)) < wanted;
    if (is_taken) ages.push_back(std::min(age, how.max_sentences));
  }
  std::ranges::reverse(ages);
  return ages;
}

}  // namespace

std::vector<std::string> story_words(std::string_view text) {
  std::vector<std::string> words;
  const std::string lower = unicode::lower(text);
  for (const std::string_view word : split_at_spaces(lower)) {
    std::string rest = bare(word);
    if (!rest.empty()) words.push_back(std::move(rest));
  }
  return words;
}

std::string story_answer(std::string_view text) { return unicode::lower(trimmed(text)); }

// ---- lines --------------------------------------------------------------------------------------

StoryParser::Step StoryParser::add(std::string_view line) {
  const auto refuse = [&](LineFault found) -> Step {
    is_broken_ = true;
    return {.fault = std::move(found)};
  };
  if (auto found = find_fault(line, std::numeric_limits<std::size_t>::max())) {
    if (found->kind == BadLine::empty && sentences_.empty()) return {};  // between two stories
    return refuse(std::move(*found));
  }
  const std::string_view text = trimmed(line);
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::optional<std::int64_t> number = line_number(text.substr(0, end));
  if (!number) return refuse(story_fault(fmt::format("begins without a number: {}", kStoryForm)));
  if (*number == 1) {
    sentences_.clear();
    has_asked_ = is_broken_ = false;
  }
  const StoryLine parts = parts_of(line.substr(line.find(text) + end));
  std::vector<std::string> words = story_words(parts.text);
  if (!parts.answer && words.empty())
    return refuse(story_fault(fmt::format("has no words: {}", kStoryForm)));
  if (!parts.answer) {
    sentences_.push_back(std::move(words));
    return {};
  }
  Step step{.asks = true};
  if (is_broken_) return step;
  const std::string answer = story_answer(*parts.answer);
  const std::string_view wrong = words.empty() ? "has a question without words"
                                 : split_at_spaces(answer).size() > 1 ? "has an answer with spaces"
                                 : needs_answers_ && answer.empty()
                                     ? "has a question without an answer"
                                     : "";
  if (!wrong.empty()) {
    step.fault = story_fault(fmt::format("{}: {}", wrong, kStoryForm));
    return step;
  }
  step.question = StoryQuestion{.sentences = sentences_,
                                .question = std::move(words),
                                .answer = answer,
                                .continues = std::exchange(has_asked_, true)};
  return step;
}

void read_stories(const std::filesystem::path& path, OnBad on_bad, BadLines& bad,
                  FunctionRef<void(const StoryQuestion& question)> f) {
  io::LineReader reader(path);
  StoryParser parser(true);
  for (std::string line; reader.next(line);) {
    const StoryParser::Step step = parser.add(line);
    if (step.fault) bad.add(*step.fault, reader.place(), on_bad);
    if (step.question) f(*step.question);
  }
}

// ---- batches ------------------------------------------------------------------------------------

void StoryCorpus::add(const StoryQuestion& question, const Tokenizer& tokenizer) {
  padding = tokenizer.special().padding;
  const bool continues = question.continues && !memories.empty();
  const std::int64_t begin = continues ? memories.back().begin : sentences.size();
  for (std::int64_t i = sentences.size() - begin; i < std::ssize(question.sentences); ++i) {
    sentences.add(word_ids(tokenizer, question.sentences[static_cast<std::size_t>(i)]));
  }
  questions.add(word_ids(tokenizer, question.question));
  memories.push_back({begin, begin + std::ssize(question.sentences)});
  const std::vector<std::string> answer = {question.answer};
  answers.push_back(question.answer.empty() ? tokenizer.special().unknown
                                            : word_ids(tokenizer, answer)[0]);
}

void StoryCorpus::append(const StoryCorpus& from, std::int64_t begin, std::int64_t end) {
  if (begin >= end) return;
  padding = from.padding;
  const Range first = from.memories[static_cast<std::size_t>(begin)];
  const Range last = from.memories[static_cast<std::size_t>(end - 1)];
  const std::int64_t shift = sentences.size() - first.begin;
  for (std::int64_t row = first.begin; row < last.end; ++row) sentences.add(from.sentences[row]);
  for (std::int64_t i = begin; i < end; ++i) {
    const Range memory = from.memories[static_cast<std::size_t>(i)];
    questions.add(from.questions[i]);
    memories.push_back({memory.begin + shift, memory.end + shift});
    answers.push_back(from.answers[static_cast<std::size_t>(i)]);
  }
}

std::int64_t StoryCorpus::first_of_story(std::int64_t question) const {
  const auto begin = [&](std::int64_t i) { return memories[static_cast<std::size_t>(i)].begin; };
  while (question > 0 && begin(question - 1) == begin(question)) --question;
  return question;
}

StoryBatch make_batch(const StoryCorpus& corpus, std::span<const std::int32_t> questions,
                      const StoryBatching& how, std::int64_t epoch) {
  const std::int64_t B = std::ssize(questions);
  std::int64_t M = 1, W = 1;
  const auto memory_of = [&](std::int32_t i) {
    StoryCorpus::Range range = corpus.memories[static_cast<std::size_t>(i)];
    range.begin = std::max(range.begin, range.end - how.max_sentences);
    return range;
  };
  std::vector<std::span<const std::int32_t>> asked;
  for (const std::int32_t i : questions) {
    const auto [begin, end] = memory_of(i);
    M = std::max(M, end - begin);
    for (std::int64_t row = begin; row < end; ++row) W = std::max(W, corpus.sentences.length(row));
    asked.push_back(corpus.questions[i]);
  }
  StoryBatch batch{.sentences = full({B, M, W}, corpus.padding, DType::i64),
                   .ages = zeros({B, M}, DType::i64),
                   .questions = pad_rows(asked, corpus.padding).tokens,
                   .answers = empty({B}, DType::i64)};
  auto* const words = batch.sentences.mutable_data<std::int64_t>();
  auto* const ages = batch.ages.mutable_data<std::int64_t>();
  for (std::int64_t b = 0; b < B; ++b) {
    const std::int32_t i = questions[static_cast<std::size_t>(b)];
    const auto [begin, end] = memory_of(i);
    for (std::int64_t row = begin; row < end; ++row) {
      std::ranges::copy(corpus.sentences[row], words + (b * M + row - begin) * W);
      batch.word_count += corpus.sentences.length(row);
    }
    constexpr std::int64_t kMostQuestions = std::int64_t{1} << 32;
    const RandomStream random =
        data_stream(how.seed, DataPurpose::ages, epoch * kMostQuestions + i);
    std::ranges::copy(ages_of(end - begin, how, random), ages + b * M);
    batch.answers.mutable_data<std::int64_t>()[b] = corpus.answers[static_cast<std::size_t>(i)];
  }
  return batch;
}

std::vector<PairLength> lengths_of(const StoryCorpus& corpus, std::int64_t max_sentences) {
  std::int64_t longest = 1;
  for (const StoryCorpus::Range& memory : corpus.memories) {
    longest = std::max(longest, memory.end - memory.begin);
  }
  const PairLength same{static_cast<std::int32_t>(std::min(longest, max_sentences)), 1};
  return std::vector<PairLength>(static_cast<std::size_t>(corpus.size()), same);
}

StoryStream::StoryStream(std::shared_ptr<const StoryCorpus> corpus, const StoryBatching& how,
                         const BatchingOptions& options, std::size_t ahead)
    : EpochStream({.plan = [lengths = lengths_of(*corpus, how.max_sentences), options](
                               std::int64_t epoch) { return plan_epoch(lengths, options, epoch); },
                   .make =
                       [corpus, how](std::span<const std::int32_t> rows, std::int64_t epoch) {
                         return make_batch(*corpus, rows, how, epoch);
                       }},
                  ahead) {}

}  // namespace heed
