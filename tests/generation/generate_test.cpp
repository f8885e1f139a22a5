// Text from a language model: the searches' own results, told token by token, over any length.
#include "heed/generation/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/autograd/tape.h"
#include "heed/generation/cached_steps.h"
#include "heed/generation/plan.h"
#include "heed/generation/search.h"
#include "heed/tensor/create.h"
#include "tests/generation/tiny_text_model.h"
#include "tests/models/model_case.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

using test::letters;
using test::tiny_generator;
using testing::HasSubstr;
using Tokens = std::vector<std::int32_t>;

// Until max_length, whatever the end's probability.
SearchOptions of_length(std::int64_t length, SearchOptions options = {.beam_size = 1}) {
  options.min_length = options.max_length = length;
  return options;
}

TEST(Generate, StepsBehindAPromptAreTheWholePass) {
  const TextGenerator generator = tiny_generator();
  const std::vector<std::int32_t> text = generator.tokenizer->encode("bad cabbage");
  const NoGrad no_grad;
  const Tensor whole = generator.model.scores(generator.model(ids_of(text, 1)));  // [1, T, V]
  for (const std::size_t first : {1u, 2u, 6u}) {
    SCOPED_TRACE(first);
    const auto steps =
        make_endless_steps(generator.model, 2, std::span(text).first(first), Position::kAnyLength);
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

TEST(Generate, APromptLeavesNothingOnTheTape) {
  const TextGenerator generator = tiny_generator();
  const std::vector<std::int32_t> prompt = generator.tokenizer->encode("bad");
  const auto steps = make_endless_steps(generator.model, 1, prompt, Position::kAnyLength);
  EXPECT_FALSE(steps->step(std::vector<std::int32_t>{prompt.back()}).tracks_grad());
}

TEST(Generate, TellsOfEachToken) {
  const TextGenerator generator = tiny_generator();
  const Tokens prompt = generator.tokenizer->encode("bad");
  const SearchOptions sampled{.method = SearchMethod::sample, .seed = 4};
  for (const SearchOptions& options : {of_length(9), of_length(9, sampled)}) {
    Tokens told;
    const NBest found = generate(
        generator, {.prompt = prompt, .on_token = [&](std::int32_t t) { told.push_back(t); }},
        options);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].tokens.size(), 9u);
    EXPECT_EQ(told, found[0].tokens);
  }
}

TEST(Generate, SaysNothingWhileSeveralAreFollowed) {
  const TextGenerator generator = tiny_generator();
  const Tokens prompt = generator.tokenizer->encode("bad");
  const auto refuse = [](std::int32_t) { ADD_FAILURE() << "which of them?"; };
  const NBest beam = generate(generator, {.prompt = prompt, .on_token = refuse}, of_length(5, {}));
  EXPECT_EQ(beam.size(), 1u);
  const SearchOptions three{.method = SearchMethod::sample, .n_best = 3};
  const NBest drawn =
      generate(generator, {.prompt = prompt, .on_token = refuse}, of_length(5, three));
  EXPECT_EQ(drawn.size(), 3u);
}

TEST(Generate, CanBeStoppedAtAnyStep) {
  const TextGenerator generator = tiny_generator();
  const Tokens prompt = generator.tokenizer->encode("bad");
  const SearchOptions three{.method = SearchMethod::sample, .n_best = 3};
  int steps = 0;
  const auto stop = [&] {
    if (++steps == 4) throw Error("enough");
  };
  EXPECT_EQ(error_message([&] {
              generate(generator, {.prompt = prompt, .on_step = stop}, of_length(9, three));
            }),
            "enough");
  EXPECT_EQ(steps, 4);
}

TEST(Generate, SamplesDependOnSeedAndStreamAlone) {
  const TextGenerator generator = tiny_generator();
  const Tokens prompt = generator.tokenizer->encode("a");
  const auto drawn = [&](std::uint64_t seed, std::uint64_t stream) {
    const SearchOptions options{.method = SearchMethod::sample, .temperature = 2, .seed = seed};
    return generate(generator, {.prompt = prompt, .stream = stream}, of_length(12, options))[0]
        .tokens;
  };
  EXPECT_EQ(drawn(1, 0), drawn(1, 0));
  EXPECT_NE(drawn(1, 0), drawn(2, 0));
  EXPECT_NE(drawn(1, 0), drawn(1, 1));
}

// The plain twin: reads the tokens that count again for every token.
Tokens greedy_by_hand(const TextGenerator& generator, Tokens text, std::int64_t count,
                      std::int64_t context) {
  const NoGrad no_grad;
  const SpecialTokens special = generator.tokenizer->special();
  const std::size_t prompt = text.size();
  std::int64_t first = 0;  // where the context begins
  for (std::int64_t n = 0; n < count; ++n) {
    const auto length = std::ssize(text);
    if (length - first > context) first = length - 1 - context / 2;
    const std::vector<std::int64_t> read(text.begin() + first, text.end());
    const Tensor ids = from_values(std::span<const std::int64_t>(read), {1, std::ssize(read)});
    const std::vector<float> scores =
        test::row_of(generator.model.scores(generator.model(ids)), 0).to_vector<float>();
    const std::vector<float> last(scores.end() - generator.tokenizer->size(), scores.end());
    std::int32_t best = -1;
    for (std::int32_t t = 0; t < std::ssize(last); ++t) {
      const bool may =
          t != special.begin && t != special.end && t != special.padding && t != special.unknown;
      if (may &&
          (best < 0 || last[static_cast<std::size_t>(t)] > last[static_cast<std::size_t>(best)]))
        best = t;
    }
    text.push_back(best);
  }
  return {text.begin() + static_cast<std::ptrdiff_t>(prompt), text.end()};
}

TEST(Generate, GoesOnBehindTheLastPosition) {
  const TextGenerator generator = tiny_generator();
  for (const char* const text :
       {"a", "bad cab", "bad cab dead bee", "abcdefgh abcdefgh abcdefgh"}) {
    SCOPED_TRACE(text);
    const Tokens prompt = generator.tokenizer->encode(text);
    const NBest found = generate(generator, {.prompt = prompt}, of_length(60));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].tokens, greedy_by_hand(generator, prompt, 60, 16));
  }
}

TEST(Generate, ReadsEverythingWherePositionsHaveNoEnd) {
  const TextGenerator generator = tiny_generator("sinusoidal");
  const Tokens prompt = generator.tokenizer->encode("bad");
  EXPECT_EQ(generate(generator, {.prompt = prompt}, of_length(40))[0].tokens,
            greedy_by_hand(generator, prompt, 40, 1000));
}

TEST(Generate, EndlessStepsFollowTheirRows) {
  const TextGenerator generator = tiny_generator();
  const Tokens prompt = generator.tokenizer->encode("abc");
  const NoGrad no_grad;
  const auto both = make_endless_steps(generator.model, 2, prompt, 6);
  const auto one = make_endless_steps(generator.model, 1, prompt, 6);
  both->step(Tokens{5, 6});
  one->step(Tokens{6});
  both->reorder(std::vector<std::int64_t>{1});
  for (std::int32_t token = 4; token < 13; ++token) {
    const Tensor a = both->step(Tokens{token}), b = one->step(Tokens{token});  // [1, V]
    EXPECT_LE(test::max_relative_error(a, b), 2e-5) << token;
  }
}

TEST(Generate, BeginsWithALineEndOrBegin) {
  const auto lines = letters("ab\n");
  EXPECT_EQ(empty_prompt(*lines), lines->encode("\n"));
  EXPECT_EQ(empty_prompt(*letters("ab")), Tokens{letters("ab")->special().begin});
}

TEST(Generate, NamesMistakes) {
  const TextGenerator generator = tiny_generator();
  EXPECT_THAT(error_message([&] { generate(generator, {.prompt = {}}, {}); }),
              HasSubstr("the prompt has no tokens"));
  EXPECT_THAT(error_message([&] { make_endless_steps(generator.model, 1, Tokens{4}, 1); }),
              HasSubstr("a context of 1 tokens"));
}

}  // namespace
}  // namespace heed
