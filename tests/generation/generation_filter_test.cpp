// Continuations of many prompts at once: those of each prompt alone, in order.
#include "heed/generation/generation_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/nn/pack_weights.h"
#include "tests/generation/tiny_text_model.h"

namespace heed::generation_filter_test {
namespace {

std::vector<Prompt> prompts(const TextGenerator& generator) {
  std::vector<Prompt> all;
  for (const char* const text : {"a", "bad cab", "", "dead", "abcdefgh", "bee", "a cab"}) {
    all.push_back(read_prompt(generator, text));
  }
  return all;
}

// With 16 positions, the long continuations do not fit and are computed alone.
TEST(GenerationFilter, GivesWhatEachPromptGetsAlone) {
  for (const char* const positions : {"rope", "learned max_length=16"}) {
    const TextGenerator generator = test::tiny_generator(positions);
    pack_weights(*generator.model, PackedForm::f32);
    for (const std::int64_t length : {6, 30}) {
      for (const std::int64_t n_best : {1, 3}) {
        GenerateOptions options;
        options.search.n_best = n_best;
        options.search.max_length = length;
        options.stop = {"gg"};
        const std::vector<Prompt> all = prompts(generator);
        const auto found = generate_texts(generator, all, options, {.batch_sentences = 3});
        ASSERT_EQ(found.size(), all.size());
        for (std::size_t i = 0; i < all.size(); ++i) {
          const auto alone = generate_text(generator, all[i], options, {.stream = i});
          ASSERT_EQ(found[i].size(), alone.size());
          for (std::size_t n = 0; n < alone.size(); ++n) {
            EXPECT_EQ(found[i][n].text, alone[n].text);
            EXPECT_EQ(found[i][n].hypothesis.finish, alone[n].hypothesis.finish);
            EXPECT_EQ(found[i][n].hypothesis.token_log_probabilities,
                      alone[n].hypothesis.token_log_probabilities);
          }
        }
      }
    }
  }
}

TEST(GenerationFilter, AnswersInOrder) {
  const TextGenerator generator = test::tiny_generator("rope");
  std::vector<std::uint64_t> numbers;
  std::vector<std::string> texts;
  GenerationFilter filter(generator, {}, {}, {.window = 3}, [&](const Generated& one) {
    numbers.push_back(one.stream);
    texts.push_back(one.prompt.text);
  });
  for (std::uint64_t stream = 0; const Prompt& prompt : prompts(generator)) {
    filter.add(prompt, stream++);
  }
  EXPECT_EQ(numbers.size(), 6u) << "two full windows";
  filter.flush();
  EXPECT_THAT(numbers, testing::ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_EQ(texts[1], "bad cab");
}

}  // namespace
}  // namespace heed::generation_filter_test
