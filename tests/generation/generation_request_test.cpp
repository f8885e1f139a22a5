// Requests for continuations; generate_test.cpp has the texts of their results.
#include "heed/generation/generation_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/generation/tiny_text_model.h"

namespace heed::generation_request_test {
namespace {

TEST(GenerationRequest, TheLastTokenOfThePromptIsTheFirstToFeed) {
  const TextGenerator generator = test::tiny_generator();
  const Prompt prompt = read_prompt(generator, "abc");
  const Request request = generation_request(generator, prompt, {}, 7);
  EXPECT_EQ(request.prompt, std::vector(prompt.tokens.begin(), prompt.tokens.end() - 1));
  EXPECT_EQ(request.start.token, prompt.tokens.back());
  EXPECT_EQ(request.start.stream, 7u);
  EXPECT_EQ(request.start.source_length, std::nullopt);
}

TEST(GenerationRequest, FitsIfTheLongestTextDoes) {
  const TextGenerator generator = test::tiny_generator();  // 16 positions
  const Prompt prompt = read_prompt(generator, "abcd");
  GenerateOptions options;
  options.search.max_length = 12;
  EXPECT_TRUE(fits_positions(generator, prompt, options));
  options.search.max_length = 13;
  EXPECT_FALSE(fits_positions(generator, prompt, options));
}

TEST(TextTeller, HoldsBackWhatMayBecomeAStopString) {
  const TextGenerator generator = test::tiny_generator();
  const Prompt prompt = read_prompt(generator, "a");
  GenerateOptions options;
  options.stop = {"cd"};
  std::vector<std::string> pieces;
  TextTeller teller(generator, prompt, options,
                    [&](const std::string& piece) { pieces.push_back(piece); });
  for (const std::int32_t token : generator.tokenizer->encode("abcab")) teller.add(token);
  EXPECT_THAT(pieces, testing::ElementsAre("a", "b", "ca", "b"));
  teller.finish("abcabc");
  EXPECT_EQ(pieces.back(), "c");
}

}  // namespace
}  // namespace heed::generation_request_test
