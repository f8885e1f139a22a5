// The files of a Hugging Face folder, made from a GGUF file.
#include "heed/generation/gguf_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/generation/foreign_folder.h"
#include "heed/io/json.h"
#include "tests/models/importers/hf_case.h"

namespace heed::gguf_files_test {
namespace {

TEST(GgufFiles, HaveTheConfigAndTheTokenizer) {
  HEED_NEED_MODEL("smollm2-135m-instruct");
  const ForeignFolder folder = open_foreign(test::published_model("smollm2-135m-instruct"));
  const std::vector<Tokenizer::File> files = gguf_files(folder.config, folder.tensors);
  ASSERT_EQ(files.size(), 3u);
  const ForeignConfig config(io::parse_json(files[0].content, files[0].name), files[0].name);
  EXPECT_EQ(config.text("model_type"), "llama");
  EXPECT_EQ(config.integer("num_hidden_layers"), 30);
  EXPECT_EQ(files[1].name, "tokenizer.json");
  // The package `tokenizers` demands all members of an added token.
  for (const char* const member : {"single_word", "lstrip", "rstrip", "normalized", "special"}) {
    EXPECT_THAT(files[1].content, testing::HasSubstr(member));
  }
  const ForeignConfig settings(io::parse_json(files[2].content, files[2].name), files[2].name);
  EXPECT_THAT(settings.text("chat_template"), testing::HasSubstr("<|im_start|>"));
}

}  // namespace
}  // namespace heed::gguf_files_test
