// Compares a metric with one case of the golden file: corpus and sentences, one and two references.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "heed/evaluation/metric.h"
#include "tests/support/score_golden.h"

namespace heed::test {

/// Members of `options` that a case names are set from it.
inline void set_option(const GoldenValue& options, const std::string& key, bool& option) {
  if (options.has(key)) option = options[key].flag();
}
inline void set_option(const GoldenValue& options, const std::string& key, int& option) {
  if (options.has(key)) option = static_cast<int>(options[key].integer());
}

inline void check_metric(const evaluation::Metric& metric, const GoldenValue& golden) {
  const auto columns = hostile_columns();
  for (std::size_t count = 1; count <= 2; ++count) {
    const std::vector<evaluation::Lines> references(columns.begin() + 2,
                                                    columns.begin() + 2 + static_cast<int>(count));
    const GoldenValue corpus = golden["corpus" + std::to_string(count)];
    const evaluation::Signature signature{.references = count, .metric = metric.signature()};
    const std::string name = to_string(signature, false);
    EXPECT_EQ(name, corpus["signature"].text());
    EXPECT_EQ(to_string(signature, true), corpus["short"].text());
    const evaluation::Score score = corpus_score(metric, columns[0], references);
    EXPECT_EQ(score.name, corpus["name"].text());
    EXPECT_EQ(metric.name(), score.name);
    EXPECT_DOUBLE_EQ(score.value, corpus["value"].number()) << name;
    EXPECT_EQ(score.details, corpus["details"].text()) << name;

    const auto sentences = golden["sentences" + std::to_string(count)].list();
    ASSERT_EQ(sentences.size(), columns[0].size());
    for (std::size_t i = 0; i < sentences.size(); ++i) {
      evaluation::Lines of_sentence;
      for (const evaluation::Lines& lines : references) of_sentence.push_back(lines[i]);
      EXPECT_DOUBLE_EQ(sentence_score(metric, columns[0][i], of_sentence).value,
                       sentences[i].number())
          << name << ": " << columns[0][i];
    }
  }
}

}  // namespace heed::test
