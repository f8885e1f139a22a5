// The files of sentence-transformers: modules in the forms of several versions, and those that
// heed has nothing for.
#include "heed/models/importers/sentence_modules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/file.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::sentence_modules_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class SentenceModulesTest : public testing::Test {
 protected:
  /// A file of the folder.
  void write(const std::string& name, std::string_view text) {
    const std::filesystem::path path = dir_ / name;
    std::filesystem::create_directories(path.parent_path());
    io::write_file(path, text);
  }
  /// modules.json with these names, in folders "", 1_NAME, 2_NAME, ….
  void list(const std::vector<std::string>& names, const std::string& package = "models") {
    std::vector<std::string> modules;
    for (std::size_t i = 0; i < names.size(); ++i) {
      modules.push_back(fmt::format(
          R"({{"idx": {0}, "name": "{0}", "path": "{1}", "type": "sentence_transformers.{2}.{3}"}})",
          i, i == 0 ? "" : fmt::format("{}_{}", i, names[i]), package, names[i]));
    }
    write("modules.json", fmt::format("[{}]", fmt::join(modules, ", ")));
  }
  SentenceModules read() { return read_sentence_modules(dir_.path()).value(); }
  std::string complaint() {
    return error_message([&] { read(); });
  }

  TempDir dir_;
};

TEST_F(SentenceModulesTest, AFolderMayHaveNone) {
  EXPECT_FALSE(read_sentence_modules(dir_.path()));
  EXPECT_FALSE(read_sentence_modules(""));
}

TEST_F(SentenceModulesTest, AreThoseOfMiniLm) {
  list({"Transformer", "Pooling", "Normalize"});
  write("1_Pooling/config.json",
        R"({"word_embedding_dimension": 384, "pooling_mode_cls_token": false,
            "pooling_mode_mean_tokens": true, "pooling_mode_max_tokens": false})");
  write("sentence_bert_config.json", R"({"max_seq_length": 256, "do_lower_case": false})");
  const SentenceModules found = read();
  EXPECT_EQ(found.pooling, Pooling::mean);
  EXPECT_TRUE(found.normalize);
  EXPECT_EQ(found.max_tokens, 256);
  EXPECT_FALSE(found.dense);
  EXPECT_EQ(found.prompt, "");
}

TEST_F(SentenceModulesTest, PoolingHasTwoSpellings) {
  list({"Transformer", "Pooling"}, "sentence_transformer.modules.pooling");
  EXPECT_EQ(read().pooling, Pooling::mean) << "without a config";
  EXPECT_FALSE(read().normalize);
  for (const auto& [text, pooling] :
       {std::pair(R"({"pooling_mode_cls_token": true})", Pooling::first),
        std::pair(R"({"pooling_mode_lasttoken": true})", Pooling::last),
        std::pair(R"({"pooling_mode": "cls"})", Pooling::first),
        std::pair(R"({"pooling_mode": ["lasttoken"]})", Pooling::last)}) {
    write("1_Pooling/config.json", text);
    EXPECT_EQ(read().pooling, pooling) << text;
  }
  for (const char* const text :
       {R"({"pooling_mode_max_tokens": true})", R"({"pooling_mode": "weightedmean"})",
        R"({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": true})"}) {
    write("1_Pooling/config.json", text);
    EXPECT_THAT(complaint(), AllOf(HasSubstr("1_Pooling/config.json"),
                                   HasSubstr("one of cls, mean and lasttoken")))
        << text;
  }
}

TEST_F(SentenceModulesTest, ADenseLayerHasItsOptions) {
  list({"Transformer", "Pooling", "Dense", "Normalize"});
  write("2_Dense/config.json",
        R"({"in_features": 768, "out_features": 512, "bias": false,
            "activation_function": "torch.nn.modules.linear.Identity"})");
  const SentenceModules found = read();
  ASSERT_TRUE(found.dense);
  EXPECT_EQ(found.dense->folder, "2_Dense");
  EXPECT_EQ(found.dense->in, 768);
  EXPECT_EQ(found.dense->out, 512);
  EXPECT_FALSE(found.dense->bias);
  EXPECT_EQ(found.dense->activation, Activation::none);
  EXPECT_TRUE(found.normalize);
  write("2_Dense/config.json", R"({"in_features": 7, "out_features": 5, "use_residual": true})");
  EXPECT_THAT(complaint(), HasSubstr("\"use_residual\" is true"));
  write("2_Dense/config.json",
        R"({"in_features": 7, "out_features": 5, "activation_function": "my.package.Mish"})");
  EXPECT_THAT(complaint(), HasSubstr("\"my.package.Mish\""));
}

TEST_F(SentenceModulesTest, OtherModulesAreRefused) {
  for (const auto& names : std::vector<std::vector<std::string>>{
           {"CLIPModel"}, {"Transformer"}, {"Pooling", "Transformer"}}) {
    list(names);
    EXPECT_THAT(complaint(), HasSubstr("heed reads a Transformer, a Pooling")) << names[0];
  }
  list({"Transformer", "Pooling", "Normalize", "Dense"});
  EXPECT_THAT(complaint(), HasSubstr("module 3 is \"Dense\""));
  write("modules.json", "{}");
  EXPECT_THAT(complaint(), HasSubstr("not a list of modules"));
  write("modules.json", R"([{"type": "a.Transformer", "path": "../other"}])");
  EXPECT_THAT(complaint(), HasSubstr("expected a folder inside"));
}

TEST_F(SentenceModulesTest, TheDefaultPromptIsRead) {
  list({"Transformer", "Pooling"});
  write("config_sentence_transformers.json",
        R"({"prompts": {"query": "query: ", "passage": ""}, "default_prompt_name": null})");
  EXPECT_EQ(read().prompt, "");
  write("config_sentence_transformers.json",
        R"({"prompts": {"query": "query: "}, "default_prompt_name": "query"})");
  EXPECT_EQ(read().prompt, "query: ");
  write("1_Pooling/config.json", R"({"pooling_mode": "mean", "include_prompt": false})");
  EXPECT_THAT(complaint(), HasSubstr("\"include_prompt\" is false"));
}

}  // namespace
}  // namespace heed::sentence_modules_test
