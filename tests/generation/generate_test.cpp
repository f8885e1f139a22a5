// Text from a language model: the results of searches, text by text as it is written, over any
// length.
#include "heed/generation/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "heed/autograd/tape.h"
#include "heed/generation/decoding_steps.h"
#include "heed/generation/penalties.h"
#include "heed/tensor/create.h"
#include "heed/text/pipeline/hf_tokenizer.h"
#include "tests/generation/tiny_text_model.h"
#include "tests/models/model_case.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

using test::letters;
using test::tiny_generator;
using testing::ElementsAre;
using testing::HasSubstr;
using Tokens = std::vector<std::int32_t>;

GenerateOptions of_length(std::int64_t length, SearchOptions search = {.beam_size = 1}) {
  search.max_length = length;
  return {.search = search};
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
    ASSERT_EQ(pieces.size(), 9u) << "a letter each";
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
  for (const char* const text : {"a", "bad cab", "bad cab dead bee"}) {
    SCOPED_TRACE(text);
    const Prompt prompt = read_prompt(generator, text);
    const auto found = generate_text(generator, prompt, of_length(60));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].hypothesis.tokens, greedy_by_hand(generator, prompt.tokens, 60, 16));
  }
}

TEST(Generate, EndsWithAnyOfTheEndTokens) {
  TextGenerator generator = tiny_generator();
  const Prompt prompt = read_prompt(generator, "bad cab");
  const GeneratedText whole = generate_text(generator, prompt, of_length(40))[0];
  EXPECT_EQ(whole.hypothesis.finish, Finish::length);
  EXPECT_EQ(whole.hypothesis.tokens.size(), 40u);
  EXPECT_EQ(whole.hypothesis.token_log_probabilities.size(), 40u);
  const std::int32_t last = whole.hypothesis.tokens.back();
  const auto at = std::ranges::find(whole.hypothesis.tokens, last);
  generator.ends = {generator.tokenizer->special().padding, last};
  const GeneratedText ended = generate_text(generator, prompt, of_length(40))[0];
  EXPECT_EQ(ended.hypothesis.finish, Finish::end);
  EXPECT_EQ(ended.hypothesis.tokens, Tokens(whole.hypothesis.tokens.begin(), at));
  EXPECT_EQ(ended.hypothesis.token_log_probabilities.size(), ended.hypothesis.tokens.size() + 1);
  const SearchOptions sampled{.method = SearchMethod::sample, .temperature = 3};
  const GeneratedText drawn = generate_text(generator, prompt, of_length(400, sampled))[0];
  EXPECT_EQ(drawn.hypothesis.finish, Finish::end);
  EXPECT_LT(drawn.hypothesis.tokens.size(), 100u);
  for (SearchOptions search : {SearchOptions{.beam_size = 1}, sampled}) {
    GenerateOptions ignored = of_length(40, search);
    ignored.ignore_end = true;
    const GeneratedText endless = generate_text(generator, prompt, ignored)[0];
    EXPECT_EQ(endless.hypothesis.tokens.size(), 40u);
    EXPECT_EQ(std::ranges::count(endless.hypothesis.tokens, last), 0);
    EXPECT_EQ(endless.hypothesis.finish, Finish::length);
  }
}

TEST(Generate, ABeamEndsTexts) {
  TextGenerator generator = tiny_generator();
  const Prompt prompt = read_prompt(generator, "bad");
  const SearchOptions beam{.beam_size = 3, .n_best = 3};
  const auto whole = generate_text(generator, prompt, of_length(6, beam));
  ASSERT_EQ(whole.size(), 3u);
  EXPECT_EQ(whole[0].hypothesis.tokens.size(), 6u);
  generator.ends = {whole[0].hypothesis.tokens[2]};
  bool has_ended = false;
  for (const GeneratedText& found : generate_text(generator, prompt, of_length(6, beam))) {
    EXPECT_EQ(std::ranges::count(found.hypothesis.tokens, generator.ends[0]), 0);
    has_ended = has_ended || found.hypothesis.finish == Finish::end;
  }
  EXPECT_TRUE(has_ended);
}

TEST(Generate, ATextOfNoTokensIsEmpty) {
  const TextGenerator generator = tiny_generator();
  const auto found = generate_text(generator, read_prompt(generator, "bad"), of_length(0));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].text, "");
  EXPECT_EQ(found[0].hypothesis.finish, Finish::length);
}

TEST(Generate, StopsBeforeAStopString) {
  const TextGenerator generator = tiny_generator();
  const Prompt prompt = read_prompt(generator, "bad");
  const SearchOptions sampled{.method = SearchMethod::sample, .temperature = 3, .seed = 7};
  const std::string whole = generate_text(generator, prompt, of_length(60, sampled))[0].text;
  for (const std::size_t length : {1u, 2u, 3u, 5u}) {
    for (const std::size_t at : {0u, 1u, 20u, 50u}) {
      GenerateOptions options = of_length(60, sampled);
      options.stop = {"never", whole.substr(at, length)};
      SCOPED_TRACE(options.stop[1]);
      std::string told;
      const auto tell = [&](const std::string& text) { told += text; };
      const GeneratedText found = generate_text(generator, prompt, options, {.on_text = tell})[0];
      const std::size_t first = whole.find(options.stop[1]);
      EXPECT_EQ(found.text, whole.substr(0, first));
      EXPECT_EQ(told, found.text);
      EXPECT_EQ(found.hypothesis.finish, Finish::stop);
      EXPECT_EQ(found.hypothesis.tokens.size(), first + length) << "it ends with its last token";
    }
  }
}

TEST(Generate, ABeamStopsBeforeAStopString) {
  const TextGenerator generator = tiny_generator();
  const Prompt prompt = read_prompt(generator, "bad");
  const SearchOptions beam{.beam_size = 3, .n_best = 3};
  GenerateOptions options = of_length(6, beam);
  options.stop = {generate_text(generator, prompt, options)[0].text.substr(1, 2)};
  bool has_stopped = false;
  for (const GeneratedText& found : generate_text(generator, prompt, options)) {
    EXPECT_EQ(found.text.find(options.stop[0]), std::string::npos);
    has_stopped = has_stopped || found.hypothesis.finish == Finish::stop;
  }
  EXPECT_TRUE(has_stopped);
}

TEST(Generate, HoldsBackWhatMayBecomeAStopString) {
  const TextGenerator generator = tiny_generator();
  const Prompt prompt = read_prompt(generator, "bad");
  const std::string whole = generate_text(generator, prompt, of_length(9))[0].text;
  GenerateOptions options = of_length(9);
  options.stop = {whole.substr(2, 3) + "x"};  // its beginning comes, but never its end
  std::vector<std::string> pieces;
  generate_text(generator, prompt, options,
                {.on_text = [&](const std::string& text) { pieces.push_back(text); }});
  EXPECT_EQ(fmt::format("{}", fmt::join(pieces, "")), whole);
  EXPECT_TRUE(std::ranges::any_of(pieces, [](const auto& piece) { return piece.size() > 3; }));
}

TEST(Generate, PenaltiesCountPromptAndText) {
  const TextGenerator generator = tiny_generator();
  const Prompt prompt = read_prompt(generator, "abcd");
  // With a presence penalty of 100 no token comes twice; a prompt's may come once.
  const GeneratedText once = generate_text(
      generator, prompt, of_length(9, {.beam_size = 1, .presence_penalty = 100.0}))[0];
  EXPECT_EQ(std::set(once.text.begin(), once.text.end()).size(), 9u);
  const NoGrad no_grad;
  const Tensor logits =
      generator.model->output_layer()((*generator.model)(ids_of(prompt.tokens, 1)));  // [1, T, V]
  std::vector<float> scores = test::row_of(logits, 0).to_vector<float>();
  scores.erase(scores.begin(), scores.end() - generator.tokenizer->size());
  for (const double penalty : {0.02, 1.0, 50.0}) {
    std::vector<float> changed = scores;
    penalise_repetition(penalty, prompt.tokens)({}, changed);
    const auto letters = std::span(changed).subspan(4);  // after the special tokens
    const auto best = std::ranges::max_element(letters) - letters.begin() + 4;
    const GeneratedText found = generate_text(
        generator, prompt, of_length(1, {.beam_size = 1, .repetition_penalty = penalty}))[0];
    EXPECT_THAT(found.hypothesis.tokens, ElementsAre(best)) << penalty;
  }
}

TEST(Generate, NeverChoosesOutputsThatAreNoTokens) {
  TextGenerator generator = tiny_generator();
  const Prompt prompt = read_prompt(generator, "aa");
  generator.tokenizer = letters("ab");  // the model has outputs for more
  const SearchOptions sampled{.method = SearchMethod::sample, .temperature = 9};
  const GeneratedText found = generate_text(generator, prompt, of_length(50, sampled))[0];
  EXPECT_EQ(found.text.find_first_not_of("ab"), std::string::npos);
}

TEST(Generate, ReadsEverythingWherePositionsHaveNoEnd) {
  const TextGenerator generator = tiny_generator("sinusoidal");
  const Prompt prompt = read_prompt(generator, "bad");
  EXPECT_EQ(generate_text(generator, prompt, of_length(40))[0].hypothesis.tokens,
            greedy_by_hand(generator, prompt.tokens, 40, 1000));
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

// A tokenizer that puts a begin token before a text.
std::shared_ptr<const Tokenizer> with_begin() {
  return HfTokenizer::parse(
      R"({"added_tokens": [{"id": 0, "content": "<unk>", "special": true},
                           {"id": 1, "content": "<s>", "special": true},
                           {"id": 2, "content": "</s>", "special": true}],
          "pre_tokenizer": {"type": "WhitespaceSplit"},
          "post_processor": {"type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                       {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}},
                     {"Sequence": {"id": "B", "type_id": 0}}],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}},
          "model": {"type": "WordLevel", "unk_token": "<unk>",
                    "vocab": {"<unk>": 0, "<s>": 1, "</s>": 2, "a": 3, "dog": 4}}})",
      "tokenizer.json");
}

TEST(Generate, PromptsHaveTheSpecialTokensOfTheirModel) {
  TextGenerator generator{nullptr, with_begin()};
  EXPECT_THAT(read_prompt(generator, "a dog").tokens, ElementsAre(1, 3, 4));
  EXPECT_EQ(read_prompt(generator, "a dog").text, "a dog");
  EXPECT_THAT(read_prompt(generator, "").tokens, ElementsAre(1));
  generator.begin = 1;
  EXPECT_THAT(read_prompt(generator, "a dog").tokens, ElementsAre(1, 3, 4));
  generator.begin = 2;
  EXPECT_THAT(read_prompt(generator, "a dog").tokens, ElementsAre(2, 1, 3, 4));
  TextGenerator plain = tiny_generator();
  plain.begin = plain.tokenizer->special().begin;
  EXPECT_EQ(read_prompt(plain, "a").tokens,
            (Tokens{*plain.begin, plain.tokenizer->encode("a")[0]}));
  EXPECT_EQ(read_prompt(plain, "").tokens, Tokens{*plain.begin});
  plain.begin = {};
  plain.tokenizer = letters("ab\n");
  plain.ends = {2};
  EXPECT_EQ(read_prompt(plain, "").tokens, Tokens{plain.tokenizer->special().begin});
}

TEST(Generate, NamesMistakes) {
  const TextGenerator generator = tiny_generator();
  EXPECT_THAT(error_message([&] { generate_text(generator, {}, {}); }),
              HasSubstr("the prompt has no tokens"));
  const Prompt longer = read_prompt(generator, "abcdefgh abcdefgh");
  EXPECT_EQ(error_message([&] { generate_text(generator, longer, {}); }),
            "[generate] a prompt of 17 tokens: the model has 16 positions; shorten it");
  EXPECT_THAT(error_message([] {
                GenerateOptions{.stop = {"a", ""}}.validate();
              }),
              HasSubstr("a stop string is empty"));
}

}  // namespace
}  // namespace heed
