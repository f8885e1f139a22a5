// The files of a Hugging Face folder, made from a GGUF file.
#include "heed/generation/gguf_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/generation/foreign_folder.h"
#include "heed/generation/model_folder.h"
#include "heed/io/json.h"
#include "tests/support/paths.h"

namespace heed::gguf_files_test {
namespace {

TEST(GgufFiles, HaveTheConfigAndTheTokenizer) {
  const char* const models = std::getenv("HEED_MODELS");
  const char* const home = std::getenv("HOME");
  const std::filesystem::path place =
      (models != nullptr
           ? std::filesystem::path(models)
           : std::filesystem::path(home != nullptr ? home : "") / ".cache/heed-models") /
      "smollm2-135m-instruct";
  if (!std::filesystem::exists(place)) {
    GTEST_SKIP() << "skipped: smollm2-135m-instruct is not in ~/.cache/heed-models (python3 "
                    "../shared/models/get.py smollm2-135m-instruct)";
  }
  const ForeignFolder folder = open_foreign(place);
  const std::vector<Tokenizer::File> files = gguf_files(folder.config, folder.tensors);
  ASSERT_EQ(files.size(), 3u);
  const ForeignConfig config(io::parse_json(files[0].content, files[0].name), files[0].name);
  EXPECT_EQ(config.text("model_type"), "llama");
  EXPECT_EQ(config.integer("num_hidden_layers"), 30);
  EXPECT_EQ(files[1].name, "tokenizer.json");
  const ForeignConfig settings(io::parse_json(files[2].content, files[2].name), files[2].name);
  EXPECT_THAT(settings.text("chat_template"), testing::HasSubstr("<|im_start|>"));
}

}  // namespace
}  // namespace heed::gguf_files_test
