// Text from a language model: the results of searches, text by text as it is written, over any
// length.
#include "heed/generation/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/autograd/tape.h"
#include "heed/generation/decoding_steps.h"
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

GenerateOptions of_length(std::int64_t length, SearchOptions search = {.beam_size = 1}) {
  search.max_length = length;
  return {.search = search};
}

TEST(Generate, StepsAfterAPromptAreTheWholePass) {
  const TextGenerator generator = tiny_generator();
  const std::vector<std::int32_t> text = generator.tokenizer->encode("bad cabbage");
  const NoGrad no_grad;
  const Tensor whole =
      generator.model->output_layer()((*generator.model)(ids_of(text, 1)));  // [1, T, V]
  for (const std::size_t first : {1u, 2u, 6u}) {
    SCOPED_TRACE(first);
    const auto steps =
        make_endless_steps(*generator.model, 2, std::span(text).first(first), Position::kAnyLength);
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
  const auto steps = make_endless_steps(*generator.model, 1, prompt, Position::kAnyLength);
  EXPECT_FALSE(steps->step(std::vector<std::int32_t>{prompt.back()}).tracks_grad());
}

TEST(Generate, GivesTheTextPieceByPiece) {
  const TextGenerator generator = tiny_generator();
  const Prompt prompt = read_prompt(generator, "bad");
  const SearchOptions sampled{.method = SearchMethod::sample, .seed = 4};
  for (const GenerateOptions& options : {of_length(9), of_length(9, sampled)}) {
    std::vector<std::string> pieces;
    const auto found =
        generate_text(generator, prompt, options,
                      {.on_text = [&](const std::string& text) { pieces.push_back(text); }});
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].hypothesis.tokens.size(), 9u);
    ASSERT_EQ(pieces.size(), 9u + 1u) << "a letter each, and what the end may add";
    EXPECT_EQ(fmt::format("{}", fmt::join(pieces, "")), found[0].text);
    EXPECT_EQ(found[0].text, generator.tokenizer->decode(found[0].hypothesis.tokens));
  }
}

TEST(Generate, GivesNoPiecesOfSeveralSequences) {
  const TextGenerator generator = tiny_generator();
  const Prompt prompt = read_prompt(generator, "bad");
  const auto refuse = [](const std::string&) { ADD_FAILURE() << "which of them?"; };
  const auto beam = generate_text(generator, prompt, of_length(5, {}), {.on_text = refuse});
  EXPECT_EQ(beam.size(), 1u);
  const SearchOptions three{.method = SearchMethod::sample, .n_best = 3};
  const auto sampled = generate_text(generator, prompt, of_length(5, three), {.on_text = refuse});
  EXPECT_EQ(sampled.size(), 3u);
}

TEST(Generate, CanBeStoppedAtAnyStep) {
  const TextGenerator generator = tiny_generator();
  const Prompt prompt = read_prompt(generator, "bad");
  const SearchOptions three{.method = SearchMethod::sample, .n_best = 3};
  int steps = 0;
  const auto stop = [&] {
    if (++steps == 4) throw Error("enough");
  };
  EXPECT_EQ(error_message(
                [&] { generate_text(generator, prompt, of_length(9, three), {.on_step = stop}); }),
            "enough");
  EXPECT_EQ(steps, 4);
}

TEST(Generate, SamplesDependOnSeedAndStreamAlone) {
  const TextGenerator generator = tiny_generator();
  const Prompt prompt = read_prompt(generator, "a");
  const auto drawn = [&](std::uint64_t seed, std::uint64_t stream) {
    const SearchOptions options{.method = SearchMethod::sample, .temperature = 2, .seed = seed};
    return generate_text(generator, prompt, of_length(12, options), {.stream = stream})[0]
        .hypothesis.tokens;
  };
  EXPECT_EQ(drawn(1, 0), drawn(1, 0));
  EXPECT_NE(drawn(1, 0), drawn(2, 0));
  EXPECT_NE(drawn(1, 0), drawn(1, 1));
}

// The same in plain code: for every token, it reads the whole context again.
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
        test::row_of(generator.model->output_layer()((*generator.model)(ids)), 0)
            .to_vector<float>();
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

TEST(Generate, GoesOnAfterTheLastPosition) {
  const TextGenerator generator = tiny_generator();
  for (const char* const text :
       {"a", "bad cab", "bad cab dead bee", "abcdefgh abcdefgh abcdefgh"}) {
    SCOPED_TRACE(text);
    const Prompt prompt = read_prompt(generator, text);
    const auto found = generate_text(generator, prompt, of_length(60));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].hypothesis.tokens, greedy_by_hand(generator, prompt.tokens, 60, 16));
  }
}

TEST(Generate, ReadsEverythingWherePositionsHaveNoEnd) {
  const TextGenerator generator = tiny_generator("sinusoidal");
  const Prompt prompt = read_prompt(generator, "bad");
  EXPECT_EQ(generate_text(generator, prompt, of_length(40))[0].hypothesis.tokens,
            greedy_by_hand(generator, prompt.tokens, 40, 1000));
}

TEST(Generate, EndlessStepsFollowTheirRows) {
  const TextGenerator generator = tiny_generator();
  const Tokens prompt = generator.tokenizer->encode("abc");
  const NoGrad no_grad;
  const auto both = make_endless_steps(*generator.model, 2, prompt, 6);
  const auto one = make_endless_steps(*generator.model, 1, prompt, 6);
  both->step(Tokens{5, 6});
  one->step(Tokens{6});
  both->reorder(std::vector<std::int64_t>{1});
  for (std::int32_t token = 4; token < 13; ++token) {
    const Tensor a = both->step(Tokens{token}), b = one->step(Tokens{token});  // [1, V]
    EXPECT_LE(test::max_relative_error(a, b), 2e-5) << token;
  }
}

TEST(Generate, ReadsPrompts) {
  const TextGenerator generator = tiny_generator();
  EXPECT_EQ(read_prompt(generator, "bad").text, "bad");
  for (const char* const text : {"bad cab", "bxd", "bad x"}) {  // x is unknown
    const Prompt prompt = read_prompt(generator, text);
    EXPECT_EQ(prompt.tokens, generator.tokenizer->encode(text));
    const GeneratedText found = generate_text(generator, prompt, of_length(5))[0];
    Tokens all = prompt.tokens;
    all.insert(all.end(), found.hypothesis.tokens.begin(), found.hypothesis.tokens.end());
    EXPECT_EQ(prompt.text + found.text, generator.tokenizer->decode(all)) << text;
  }
}

TEST(Generate, BeginsWithALineEndOrBegin) {
  TextGenerator generator = tiny_generator();
  for (const char* const known : {"ab\n", "ab"}) {
    generator.tokenizer = letters(known);
    const Prompt prompt = read_prompt(generator, "");
    EXPECT_EQ(prompt.text, "");
    EXPECT_EQ(prompt.tokens, std::string_view(known).ends_with('\n')
                                 ? generator.tokenizer->encode("\n")
                                 : Tokens{generator.tokenizer->special().begin});
  }
}

TEST(Generate, NamesMistakes) {
  const TextGenerator generator = tiny_generator();
  EXPECT_THAT(error_message([&] { generate_text(generator, {}, {}); }),
              HasSubstr("the prompt has no tokens"));
  EXPECT_THAT(error_message([&] { make_endless_steps(*generator.model, 1, Tokens{4}, 1); }),
              HasSubstr("a context of 1 tokens"));
}

}  // namespace
}  // namespace heed
