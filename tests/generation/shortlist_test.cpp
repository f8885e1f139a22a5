// Lists of candidates: what is in them, files and their mistakes, and translators that use one.
#include "heed/generation/shortlist.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/base/threads.h"
#include "heed/io/file.h"
#include "heed/nn/pack_weights.h"
#include "tests/generation/tiny_translator.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::shortlist_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Tokens = std::vector<std::int32_t>;

std::vector<LexicalEntry> entries() {
  return {{4, 9, 0.2}, {4, 8, 0.5}, {4, 7, 0.3}, {6, 8, 0.9}, {6, 5, 0.1}};
}

TEST(Shortlist, CandidatesAreThoseOfAllTokens) {
  const Shortlist list(entries(), {.best = 2, .common = 0});
  EXPECT_EQ(list.size(), 2);
  EXPECT_THAT(*list.candidates(Tokens{4}), ElementsAre(7, 8));
  EXPECT_THAT(*list.candidates(Tokens{6, 4, 6}), ElementsAre(5, 7, 8));
  for (const std::int32_t unknown : {-1, 0, 5, 7, 1000}) {
    EXPECT_FALSE(list.candidates(Tokens{4, unknown})) << unknown;
  }
  EXPECT_THAT(*list.candidates(Tokens{}), ElementsAre());
}

TEST(Shortlist, CommonTokensHaveTheGreatestSums) {
  const Shortlist list(entries(), {.best = 1, .common = 2});  // sums: 8 1.4, 7 0.3, 9 0.2, 5 0.1
  EXPECT_THAT(*list.candidates(Tokens{6}), ElementsAre(7, 8));
  EXPECT_TRUE(Shortlist({}).candidates(Tokens{})->empty());
}

TEST(Shortlist, FilesComeBack) {
  const TempDir folder;
  const auto source = test::words("dog cat"), target = test::words("Hund Katze der die");
  const std::int32_t dog = source->encode("dog")[0], cat = source->encode("cat")[0];
  const auto to = [&](const char* word) { return target->encode(word)[0]; };
  const std::vector<LexicalEntry> all = {
      {dog, to("Hund"), 0.75}, {dog, to("der"), 0.25}, {cat, to("Katze"), 1.0}};
  save_shortlist(folder / "list", all, *source, *target);
  EXPECT_EQ(io::read_file(folder / "list", 1000), "Hund dog 0.75\nder dog 0.25\nKatze cat 1\n");
  const Shortlist list =
      load_shortlist(folder / "list", *source, *target, {.best = 1, .common = 0});
  EXPECT_THAT(*list.candidates(Tokens{dog}), ElementsAre(to("Hund")));
  EXPECT_THAT(*list.candidates(Tokens{cat}), ElementsAre(to("Katze")));
  // The form of Marian: tabs, and targets that translate nothing.
  io::write_file(folder / "list", "die NULL 0.5\nKatze\tcat\t1e-3\n");
  EXPECT_EQ(load_shortlist(folder / "list", *source, *target).size(), 1);
}

TEST(Shortlist, MistakesInFilesAreNamed) {
  const TempDir folder;
  const auto tokenizer = test::words("dog Hund");
  const auto message = [&](std::string_view text) {
    io::write_file(folder / "list", text);
    return error_message([&] { load_shortlist(folder / "list", *tokenizer, *tokenizer); });
  };
  EXPECT_THAT(message("Hund dog\n"), HasSubstr("list:1: 2 fields instead of 3"));
  EXPECT_THAT(message("Hund dog 1\nHund dog 0.5 1\n"), HasSubstr("list:2: 4 fields"));
  EXPECT_THAT(message("Hund dog 1.5\n"), HasSubstr("'1.5' is not a probability"));
  EXPECT_THAT(message("Hund dog nan\n"), HasSubstr("'nan' is not a probability"));
  EXPECT_THAT(message("Hund dog 0.5x\n"), HasSubstr("'0.5x' is not a probability"));
  EXPECT_THAT(message("Hund cow 1\n"), HasSubstr("'cow' is not a source token of the model"));
  EXPECT_THAT(message("Kuh dog 1\n"), HasSubstr("'Kuh' is not a target token of the model"));
  EXPECT_THAT(message(""), HasSubstr("has no entries"));
}

// All letters, with the letters before and after them as translations; "z" has none.
std::shared_ptr<const Shortlist> neighbours(const Tokenizer& letters) {
  std::vector<LexicalEntry> all;
  for (char c = 'b'; c <= 'g'; ++c) {
    const std::int32_t source = letters.encode(std::string(1, c))[0];
    for (const int step : {-1, 1}) {
      const auto neighbour = static_cast<char>(c + step);
      all.push_back({source, letters.encode(std::string(1, neighbour))[0], 0.5});
    }
  }
  return std::make_shared<const Shortlist>(std::move(all), ShortlistOptions{.common = 0});
}

TEST(Shortlist, TranslatorsChooseAmongCandidates) {
  const auto letters = test::letters();
  for (const PackedForm form : {PackedForm::f32, PackedForm::int8, PackedForm::int4}) {
    Translator translator = test::tiny_translator(letters, letters);
    pack_weights(translator.model(), form);
    const Translator restricted = translator.with_shortlist(neighbours(*letters));
    for (const SearchMethod method : {SearchMethod::beam, SearchMethod::sample}) {
      SCOPED_TRACE(fmt::format("{}, {}", name_of(form), static_cast<int>(method)));
      const TranslateOptions options{
          .search = {.method = method, .beam_size = 3, .n_best = 3, .max_length = 12}};
      const std::vector<std::string> sentences = {"bc", "gggg", "dd", "hb"};
      const auto all = translator.translate(sentences, options);
      const auto found = restricted.translate(sentences, options);
      const char* const allowed[] = {"abcd", "fh", "ce"};  // of b a and c, of c b and d, …
      for (std::size_t i = 0; i < 3; ++i) {
        ASSERT_FALSE(found[i].empty());
        for (const Translation& one : found[i]) {
          EXPECT_EQ(one.text.find_first_not_of(allowed[i]), std::string::npos) << one.text;
        }
      }
      // h has no translations: all tokens are candidates.
      ASSERT_EQ(found[3].size(), all[3].size());
      EXPECT_EQ(found[3][0].hypothesis.tokens, all[3][0].hypothesis.tokens);
    }
  }
}

TEST(Shortlist, ProbabilitiesAreThoseAmongCandidates) {
  const auto letters = test::letters();
  Translator translator = test::tiny_translator(letters, letters);
  pack_weights(translator.model(), PackedForm::f32);
  const Translator restricted = translator.with_shortlist(neighbours(*letters));
  // With one source letter, a result of one letter is one of three: two letters and the end.
  const TranslateOptions options{
      .search = {.beam_size = 3, .n_best = 3, .length_penalty = 0.0, .max_length = 1}};
  const std::vector<std::string> sentences = {"e"};
  double total = 0.0;
  const auto found = restricted.translate(sentences, options);
  for (const Translation& one : found[0]) {
    total += std::exp(one.hypothesis.token_log_probabilities[0]);
  }
  EXPECT_NEAR(total, 1.0, 1e-5);
}

TEST(Shortlist, ResultsHaveTheSameBitsInAnyCompany) {
  const int before = num_threads();
  const auto letters = test::letters();
  Translator translator = test::tiny_translator(letters, letters);
  pack_weights(translator.model(), PackedForm::int8);
  const Translator restricted = translator.with_shortlist(neighbours(*letters));
  std::vector<std::string> sentences;
  for (std::size_t i = 0; i < 30; ++i)
    sentences.push_back(std::string(1 + i % 7, "bcdefgh"[i % 7]));
  for (const std::int64_t beam : {1, 4}) {
    const TranslateOptions options{.search = {.beam_size = beam, .n_best = beam}};
    set_num_threads(3);
    const auto together = restricted.translate(sentences, options);
    set_num_threads(1);
    for (std::size_t i = 0; i < sentences.size(); ++i) {
      const auto alone = restricted.translate({&sentences[i], 1}, options);
      ASSERT_EQ(alone[0].size(), together[i].size()) << sentences[i];
      for (std::size_t n = 0; n < alone[0].size(); ++n) {
        EXPECT_EQ(alone[0][n].hypothesis.tokens, together[i][n].hypothesis.tokens);
        EXPECT_EQ(alone[0][n].hypothesis.score, together[i][n].hypothesis.score);
      }
    }
  }
  set_num_threads(before);
}

}  // namespace
}  // namespace heed::shortlist_test
