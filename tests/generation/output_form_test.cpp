// The lines that filters write: columns, n-best lists of Moses, alignments; no byte depends on the
// batch.
#include "heed/generation/output_form.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/generation/examine.h"
#include "heed/io/config.h"
#include "tests/generation/tiny_translator.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

using test::letters;
using test::tiny_translator;
using testing::ElementsAre;
using testing::EndsWith;
using testing::MatchesRegex;

std::vector<std::string> split(const std::string& text, std::string_view by) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (std::size_t at; (at = text.find(by, from)) != std::string::npos; from = at + by.size()) {
    parts.push_back(text.substr(from, at - from));
  }
  parts.push_back(text.substr(from));
  return parts;
}

// The lines of all sentences under an ordering.
std::string written(const Translator& translator, const OutputForm& form,
                    const SearchOptions& search, const OrderingOptions& ordering = {}) {
  std::string all;
  TranslationFilter filter(translator, {.search = search, .observed = observed_for(form)}, ordering,
                           [&](const Translated& translated) {
                             all += output_lines(translator, translated, form, search);
                           });
  for (const char* const sentence : {"ab cd", "", "h gf edc ba", "ab ab ab ab ab ab", "f"}) {
    filter.add(translator.read(sentence));
  }
  filter.flush();
  return all;
}

TEST(OutputForm, IsTheTextAloneUnlessMoreIsAsked) {
  const Translator translator = tiny_translator(letters(), letters("uvwxyz"));
  const auto lines = split(written(translator, {}, {}), "\n");
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[0], translator.translate(std::vector<std::string>{"ab cd"})[0][0].text);
  EXPECT_EQ(lines[1], "");
  EXPECT_EQ(lines[5], "") << "the last line ends too";
}

TEST(OutputForm, ScoresAndAlignmentsAreColumns) {
  const Translator translator = tiny_translator(letters(), letters("uvwxyz"));
  const OutputForm form{.with_score = true, .alignment = AlignmentForm::hard};
  const auto lines = split(written(translator, form, {}), "\n");
  const auto columns = split(lines[0], "\t");
  ASSERT_EQ(columns.size(), 3u);
  const auto found = translator.translate(std::vector<std::string>{"ab cd"})[0][0];
  EXPECT_EQ(columns[0], found.text);
  EXPECT_NEAR(std::stod(columns[1]), found.hypothesis.score, 1e-4);
  EXPECT_EQ(split(columns[1], ".")[1].size(), 4u);
  EXPECT_THAT(columns[2], MatchesRegex("([0-9]+-[0-9]+( |$))+"));
  EXPECT_EQ(lines[1], "\t0.0000\t");
}

TEST(OutputForm, TheNBestAreMosesLines) {
  const Translator translator = tiny_translator(letters(), letters("uvwxyz"));
  const SearchOptions search{.n_best = 2};
  const auto lines = split(written(translator, {}, search), "\n");
  ASSERT_EQ(lines.size(), 2 * 4 + 1 + 1u) << "two for each but the empty one, and the last end";
  const auto found = translator.translate(std::vector<std::string>{"ab cd"}, {.search = search})[0];
  for (const std::size_t i : {0u, 1u}) {
    const auto fields = split(lines[i], " ||| ");
    ASSERT_EQ(fields.size(), 4u);
    EXPECT_EQ(fields[0], "0");
    EXPECT_EQ(fields[1], found[i].text);
    EXPECT_THAT(fields[2], MatchesRegex("logprob= -[0-9]+\\.[0-9]{4}"));
    EXPECT_NEAR(std::stod(fields[2].substr(9)), found[i].hypothesis.log_probability, 1e-3);
    EXPECT_NEAR(std::stod(fields[3]), found[i].hypothesis.score, 1e-4);
  }
  EXPECT_EQ(lines[2], "1 |||  ||| logprob= 0.0000 ||| 0.0000");
  const OutputForm aligned{.alignment = AlignmentForm::hard, .alignment_layer = 1};
  EXPECT_EQ(split(split(written(translator, aligned, search), "\n")[0], " ||| ").size(), 5u);
}

// The words of two texts are equal, or numbers that differ by no more than products of other sizes
// round differently.
void expect_same_output(const std::string& given, const std::string& expected) {
  const auto words = [](std::string text) {
    std::ranges::replace_if(
        text, [](char c) { return c == ',' || c == '\t'; }, ' ');
    return split(text, " ");
  };
  const auto a = words(given), b = words(expected);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    EXPECT_NEAR(std::stod(a[i]), std::stod(b[i]), 1.1e-4) << i;
  }
}

TEST(OutputForm, DoesNotDependOnTheBatch) {
  const Translator translator = tiny_translator(letters(), letters("uvwxyz "));
  for (const AlignmentForm alignment : {AlignmentForm::hard, AlignmentForm::soft}) {
    const OutputForm form{.with_score = true, .alignment = alignment};
    for (const SearchOptions& search : {SearchOptions{}, SearchOptions{.n_best = 3}}) {
      const std::string expected = written(translator, form, search);
      for (const std::int64_t size : {1, 2, 3}) {
        expect_same_output(written(translator, form, search, {.window = size}), expected);
        expect_same_output(written(translator, form, search, {.batch_sentences = size}), expected);
      }
    }
  }
}

TEST(OutputForm, ScoresAndAlignmentsAreThoseOfTheSearch) {
  const Translator translator = tiny_translator(letters(), letters("uvwxyz "));
  Translated translated{.number = 0, .source = translator.read("ab"), .found = {}};
  OutputForm form{.with_score = true};
  EXPECT_EQ(observed_for(form), ObservedWeights::none);
  translated.found =
      translator.translate(std::vector<std::string>{"ab"}, {.search = {.min_length = 2}})[0];
  translated.found[0].hypothesis.score = 1.25;
  EXPECT_THAT(output_lines(translator, translated, form, {}), EndsWith("\t1.2500\n"));
  form.alignment = AlignmentForm::hard;
  EXPECT_EQ(observed_for(form), ObservedWeights::cross);
  EXPECT_THAT(error_message([&] { output_lines(translator, translated, form, {}); }),
              testing::HasSubstr("was not observed"));
}

std::string alignment(const Translator& translator, std::string_view source,
                      std::string_view target, const OutputForm& form) {
  const std::vector<std::int32_t> read = translator.read(source);
  Hypothesis hypothesis{.tokens = translator.target()->encode(target)};
  hypothesis.weights = examine_weights(translator, {read, hypothesis.tokens});
  return alignment_text(translator, read, hypothesis, form);
}

TEST(OutputForm, AlignmentsAreOfWordsOrTokens) {
  const Translator translator = tiny_translator(letters(), letters("uvwxyz "));
  const auto rows = [&](const OutputForm& form) {
    return split(alignment(translator, "ab cd", "uv wx yz", form), " ");
  };
  OutputForm form{.alignment = AlignmentForm::soft};
  EXPECT_EQ(rows(form).size(), 3u);
  EXPECT_EQ(split(rows(form)[0], ",").size(), 2u);
  form.alignment_unit = AlignmentUnit::tokens;
  EXPECT_EQ(rows(form).size(), 9u) << "8 characters and the end";
  EXPECT_EQ(split(rows(form)[0], ",").size(), 6u);
  double sum = 0;
  for (const std::string& weight : split(rows(form)[0], ",")) sum += std::stod(weight);
  EXPECT_NEAR(sum, 1.0, 1e-4);
  form.alignment = AlignmentForm::hard;
  EXPECT_EQ(rows(form).size(), 8u) << "a link for each character";
  form.alignment_unit = AlignmentUnit::words;
  for (const std::string& link : rows(form)) EXPECT_THAT(link, MatchesRegex("[01]-[012]"));
}

TEST(OutputForm, WhatIsEmptyHasNoAlignment) {
  const Translator translator = tiny_translator(letters(), letters());
  const OutputForm form{.alignment = AlignmentForm::hard};
  EXPECT_EQ(alignment(translator, "", "ab", form), "");
  EXPECT_EQ(alignment(translator, "ab", "", form), "");
}

TEST(OutputForm, TextsStayOnTheirLine) {
  const Translator translator = tiny_translator(letters(), letters("a\n\tb"));
  Translated translated{.number = 0, .source = translator.read("ab"), .found = {}};
  translated.found.push_back({"a\nb\tc", {}});
  EXPECT_EQ(output_lines(translator, translated, {}, {}), "a b\tc\n");
  const std::string columns = output_lines(translator, translated, {.with_score = true}, {});
  EXPECT_THAT(split(columns, "\t"), ElementsAre("a b c", testing::_));
  translated.found.clear();
  EXPECT_EQ(output_lines(translator, translated, {}, {}), "\n") << "nothing was possible";
}

TEST(OutputForm, HasFlags) {
  OutputForm form;
  io::set_fields(form, {"alignment=soft", "alignment-unit=tokens", "alignment_layer=2"});
  EXPECT_EQ(form.alignment, AlignmentForm::soft);
  EXPECT_EQ(form.alignment_unit, AlignmentUnit::tokens);
  EXPECT_EQ(form.alignment_layer, 2);
}

}  // namespace
}  // namespace heed
