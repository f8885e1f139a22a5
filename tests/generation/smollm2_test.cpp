// SmolLM2-135M-Instruct, a published model in a GGUF file: its tokenizer, its chat template, and
// the tokens that transformers 5.22 finds greedily with the same file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/generation/generate.h"
#include "heed/generation/model_folder.h"
#include "tests/models/importers/hf_case.h"

namespace heed::smollm2_test {
namespace {

using testing::ElementsAre;

constexpr const char* kModel = "smollm2-135m-instruct";

struct Continued {
  const char* prompt;
  std::vector<std::int32_t> ids, found;  // `found` without the end token
};
const Continued kContinued[] = {
    {"The capital of France is",
     {504, 3575, 282, 4649, 314},
     {7042, 30, 198, 198, 504, 2988, 314, 42, 216, 34, 32, 33, 40, 29, 32,
      33,   29, 34,  34,  216, 33,   34,  42, 33,  34, 42, 37, 35, 30}},
    {"My favorite book is",
     {5965, 4932, 1863, 314},
     {476, 504, 35276, 13561, 18, 411, 29741, 24631, 18976, 30}},
    {"for i in range(10):\n    ",
     {1710, 2056, 281, 1845, 24, 33, 32, 727, 2367},
     {1628, 24, 89, 25, 198, 198, 3272, 24, 86, 18, 504, 966, 314, 42, 1662, 4917}},
};

TEST(SmolLm2, ContinuesAsInTransformers) {
  HEED_NEED_MODEL(kModel);
  const TextGenerator generator = load_text_generator(test::published_model(kModel));
  EXPECT_EQ(generator.model->vocabulary(), 49152);
  EXPECT_THAT(generator.ends, ElementsAre(2, 0)) << "<|im_end|> and <|endoftext|>";
  for (const Continued& one : kContinued) {
    SCOPED_TRACE(one.prompt);
    const Prompt prompt = read_prompt(generator, one.prompt);
    EXPECT_EQ(prompt.tokens, one.ids);
    GenerateOptions options;
    const bool is_whole = one.found.size() != 16;
    options.search = {.beam_size = 1,
                      .max_length = static_cast<std::int64_t>(one.found.size()) + is_whole};
    const std::vector<GeneratedText> found = generate_text(generator, prompt, options);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].hypothesis.tokens, one.found);
  }
}

TEST(SmolLm2, HasAChatTemplate) {
  HEED_NEED_MODEL(kModel);
  const TextGenerator generator = load_text_generator(test::published_model(kModel));
  ASSERT_TRUE(generator.chat);
  const std::string text = generator.chat->chat_template.apply(
      {{"user", "Hello"}}, {.add_generation_prompt = true,
                            .bos_token = generator.chat->bos_token,
                            .eos_token = generator.chat->eos_token});
  EXPECT_EQ(text,
            "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging "
            "Face<|im_end|>\n<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n");
  const std::vector<std::int32_t> ids = generator.tokenizer->encode(text);
  EXPECT_EQ(ids.front(), 1) << "<|im_start|> is one token";
}

}  // namespace
}  // namespace heed::smollm2_test
