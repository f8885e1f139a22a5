// Language models and classifiers with tokenizers: folders, and steps behind a prompt.
#include "heed/generation/text_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/autograd/tape.h"
#include "heed/generation/search.h"
#include "tests/generation/tiny_text_model.h"
#include "tests/models/model_case.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed {
namespace {

using test::tiny_classifier;
using test::tiny_generator;
using testing::ElementsAre;
using testing::HasSubstr;

Tensor ids_of(const std::vector<std::int32_t>& tokens) {
  const std::vector<std::int64_t> wide(tokens.begin(), tokens.end());
  return from_values(std::span<const std::int64_t>(wide), {1, std::ssize(wide)});  // [1, T]
}

TEST(TextModel, StepsBehindAPromptAreTheWholePass) {
  const TextGenerator generator = tiny_generator();
  const std::vector<std::int32_t> text = generator.tokenizer->encode("bad cabbage");
  const NoGrad no_grad;
  const Tensor whole = generator.model.scores(generator.model(ids_of(text)));  // [1, T, V]
  for (const std::size_t first : {1u, 2u, 6u}) {
    SCOPED_TRACE(first);
    const auto steps = make_steps(generator.model, 2, std::span(text).first(first));
    EXPECT_EQ(steps->rows(), 2);
    EXPECT_EQ(steps->vocabulary(), generator.tokenizer->size());
    for (std::size_t t = first - 1; t < text.size(); ++t) {
      const Tensor y = steps->step(std::vector<std::int32_t>{text[t], text[t]});  // [2, V]
      const auto at = static_cast<std::int64_t>(t);
      const Tensor expected = clone_data(view::select(view::select(whole, 0, 0), 0, at));
      for (const std::int64_t row : {0, 1}) {
        EXPECT_LE(test::max_relative_error(test::row_of(y, row), expected), 2e-5) << "token " << t;
      }
    }
  }
}

TEST(TextModel, APromptLeavesNothingOnTheTape) {
  const TextGenerator generator = tiny_generator();
  const std::vector<std::int32_t> prompt = generator.tokenizer->encode("bad");
  const auto steps = make_steps(generator.model, 1, prompt);
  EXPECT_FALSE(steps->step(std::vector<std::int32_t>{prompt.back()}).tracks_grad());
}

TEST(TextModel, NeedsAPrompt) {
  const TextGenerator generator = tiny_generator();
  EXPECT_THAT(error_message([&] { make_steps(generator.model, 1, {}); }),
              HasSubstr("the prompt has no tokens"));
}

TEST(TextModel, GeneratorsGoToAFolderAndBack) {
  const TempDir dir;
  const TextGenerator before = tiny_generator();
  save_text_generator(before, dir.path());
  const TextGenerator after = load_text_generator(dir.path());
  EXPECT_FALSE(after.model.training());
  const NoGrad no_grad;
  const Tensor ids = ids_of(after.tokenizer->encode("a bad cab"));
  EXPECT_EQ(after.tokenizer->encode("a bad cab"), before.tokenizer->encode("a bad cab"));
  EXPECT_TRUE(test::same_bits(after.model.scores(after.model(ids)),
                              before.model.scores(before.model(ids))));
}

TEST(TextModel, ClassifiersKeepTheirLabels) {
  const TempDir dir;
  const TextClassifier before = tiny_classifier();
  save_text_classifier(before, dir.path());
  const TextClassifier after = load_text_classifier(dir.path());
  EXPECT_THAT(after.labels, ElementsAre("good", "bad", "ugly"));
  EXPECT_FALSE(after.model.training());
  const NoGrad no_grad;
  const Tensor ids = ids_of(after.tokenizer->encode("a bad cab"));
  EXPECT_TRUE(test::same_bits(after.model(ids), before.model(ids)));
}

TEST(TextModel, FoldersOfOtherKindsAreRefused) {
  const TempDir dir;
  save_text_classifier(tiny_classifier(), dir.path());
  EXPECT_THAT(error_message([&] { load_text_generator(dir.path()); }),
              HasSubstr("holds a classifier, not a language_model"));
  EXPECT_THAT(error_message([&] { load_translator(dir.path()); }),
              HasSubstr("holds a classifier, not a translator"));
}

}  // namespace
}  // namespace heed
