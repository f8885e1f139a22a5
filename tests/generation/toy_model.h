// Step models small enough to know everything about: scores that are random numbers of the whole
// history, and scores that a function of the test's own gives.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "heed/base/random.h"
#include "heed/generation/hypothesis.h"
#include "heed/generation/step_model.h"
#include "heed/tensor/create.h"

namespace heed::test {

using Tokens = std::vector<std::int32_t>;

/// The scores of the next token after what a sentence was fed, the start token first.
using Scorer = std::function<std::vector<float>(std::int64_t sentence, const Tokens& fed)>;

/// Scores that depend on the sentence and on all that it was fed, and on nothing else.
struct HashScores {
  std::int64_t vocabulary = 5;
  std::uint64_t seed = 0;
  float scale = 1.0f;
  float end_bonus = 0.0f;   // added to the score of token 2
  bool ties = false;        // scores are whole numbers
  bool impossible = false;  // about a quarter of the scores are -inf

  std::vector<float> operator()(std::int64_t sentence, const Tokens& fed) const {
    std::uint64_t history = static_cast<std::uint64_t>(sentence);
    for (const std::int32_t token : fed) {
      history =
          RandomStream{seed, history}.bits(static_cast<std::uint64_t>(token)) + (history << 32) * 3;
    }
    const RandomStream random{seed + 1, history};
    std::vector<float> scores(static_cast<std::size_t>(vocabulary));
    for (std::size_t i = 0; i < scores.size(); ++i) {
      scores[i] = scale * random.normal(i) + (i == 2 ? end_bonus : 0.0f);
      if (ties) scores[i] = std::round(scores[i]);
      if (impossible && random.bits(1000 + i) % 4 == 0) {
        scores[i] = -std::numeric_limits<float>::infinity();
      }
    }
    return scores;
  }
};

/// A model that remembers what each row was fed and asks a Scorer.
class ToyModel : public StepModel {
 public:
  ToyModel(std::int64_t vocabulary, Scorer scorer, std::vector<std::int64_t> sentences)
      : vocabulary_(vocabulary), scorer_(std::move(scorer)) {
    for (const std::int64_t sentence : sentences) rows_.push_back({sentence, {}});
  }
  ToyModel(const HashScores& scores, std::vector<std::int64_t> sentences)
      : ToyModel(scores.vocabulary, scores, std::move(sentences)) {}

  /// A sentence joins.
  void add(std::int64_t sentence) { rows_.push_back({sentence, {}}); }

  std::int64_t rows() const override { return std::ssize(rows_); }
  std::int64_t vocabulary() const override { return vocabulary_; }
  TokenScores step(std::span<const std::int32_t> last) override {
    EXPECT_EQ(last.size(), rows_.size());
    steps.push_back(rows());
    std::vector<float> all;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      rows_[i].fed.push_back(last[i]);
      const std::vector<float> scores = scorer_(rows_[i].sentence, rows_[i].fed);
      all.insert(all.end(), scores.begin(), scores.end());
    }
    return from_values(std::span<const float>(all), {rows(), vocabulary_});
  }
  void reorder(std::span<const std::int64_t> from) override {
    ++reorders;
    std::vector<Row> next;
    for (const std::int64_t i : from) next.push_back(rows_.at(static_cast<std::size_t>(i)));
    rows_ = std::move(next);
  }

  std::vector<std::int64_t> steps;  ///< How many rows each step had.
  int reorders = 0;

 private:
  struct Row {
    std::int64_t sentence;
    Tokens fed;
  };
  std::int64_t vocabulary_;
  Scorer scorer_;
  std::vector<Row> rows_;
};

/// 0, 1, … n-1.
inline std::vector<std::int64_t> first_sentences(std::int64_t n) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < n; ++i) all.push_back(i);
  return all;
}

/// Starts of sentences 0, 1, … n-1, of 1, 2, … n source tokens.
inline std::vector<Start> starts_of(std::int64_t n) {
  std::vector<Start> starts;
  for (std::int64_t i = 0; i < n; ++i) {
    starts.push_back({.source_length = i + 1, .stream = static_cast<std::uint64_t>(i)});
  }
  return starts;
}

/// The same results to the bit.
inline void expect_same(const NBest& actual, const NBest& expected, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_EQ(actual[i].tokens, expected[i].tokens) << what << ", result " << i;
    EXPECT_EQ(actual[i].score, expected[i].score) << what << ", result " << i;
    EXPECT_EQ(actual[i].log_probability, expected[i].log_probability) << what;
    EXPECT_EQ(actual[i].token_log_probabilities, expected[i].token_log_probabilities) << what;
  }
}

}  // namespace heed::test
