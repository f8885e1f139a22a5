// Language models of other programs: the tokens that end texts, chat templates, recommended
// options.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/generation/foreign_folder.h"
#include "heed/generation/generate.h"
#include "heed/io/config.h"
#include "tests/generation/foreign_case.h"
#include "tests/support/error_message.h"

namespace heed::import_generator_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ImportGenerator : public testing::Test {
 protected:
  ImportGenerator() { test::write_foreign(dir_.path()); }

  void write(const std::string& name, std::string_view content) const {
    io::write_file(dir_ / name, content);
  }
  TextGenerator load() const { return import_generator(open_foreign(dir_.path())); }
  std::string chat() const {
    const TextGenerator generator = load();
    if (!generator.chat) return "(none)";
    return generator.chat->chat_template.apply(
        {{"user", "hi"}},
        {.bos_token = generator.chat->bos_token, .eos_token = generator.chat->eos_token});
  }

  TempDir dir_;
};

TEST_F(ImportGenerator, EndsOfTextsAreInTheConfigsOfGenerationOrOfTheModel) {
  EXPECT_THAT(load().ends, ElementsAre(1)) << "of config.json";
  write("generation_config.json", R"({"eos_token_id": [2, 1, 2, 31]})");
  EXPECT_THAT(load().ends, ElementsAre(2, 1)) << "twice, or not a token: left out";
  write("generation_config.json", R"({"eos_token_id": 2})");
  EXPECT_THAT(load().ends, ElementsAre(2));
  write("generation_config.json", R"({"eos_token_id": "x"})");
  EXPECT_THAT(error_message([&] { load(); }), HasSubstr("\"eos_token_id\""));
}

TEST_F(ImportGenerator, ChatTemplates) {
  EXPECT_EQ(chat(), "(none)");
  write("tokenizer_config.json",
        R"({"chat_template": "{{ bos_token }}{{ messages[0].content }}{{ eos_token }}",
            "bos_token": "<s>", "eos_token": {"content": "</s>"}})");
  EXPECT_EQ(chat(), "<s>hi</s>");
  write("tokenizer_config.json",
        R"({"chat_template": [{"name": "tool_use", "template": "tools"},
                              {"name": "default", "template": "plain {{ bos_token }}"}]})");
  write("special_tokens_map.json", R"({"bos_token": "<s>"})");
  EXPECT_EQ(chat(), "plain <s>");
  write("chat_template.jinja", "of a file");
  EXPECT_EQ(chat(), "of a file");
}

TEST_F(ImportGenerator, ATemplateThatHeedDoesNotReadIsAnErrorOfItsUse) {
  write("chat_template.jinja", "{% macro f() %}{% endmacro %}");
  const TextGenerator generator = load();
  ASSERT_TRUE(generator.chat);
  EXPECT_THAT(error_message([&] {
                generator.chat->chat_template.apply({{"user", "hi"}});
              }),
              testing::AllOf(HasSubstr("macro"),
                             HasSubstr("chat_template.jinja, line 1: heed cannot read")));
}

TEST_F(ImportGenerator, OptionsOfThePublisher) {
  const auto options_of = [&](std::string_view generation) {
    write("generation_config.json", generation);
    const TextGenerator generator = load();
    GenerateOptions options;
    io::set_fields(options, generator.options);
    return options.search;
  };
  EXPECT_THAT(load().options, IsEmpty());
  const SearchOptions sampled =
      options_of(R"({"do_sample": true, "temperature": 0.6, "top_k": 20, "top_p": 0.95})");
  EXPECT_EQ(sampled.method, SearchMethod::sample);
  EXPECT_EQ(sampled.temperature, 0.6);
  EXPECT_EQ(sampled.top_k, 20);
  EXPECT_EQ(sampled.top_p, 0.95);
  const SearchOptions open = options_of(R"({"do_sample": true})");
  EXPECT_EQ(open.temperature, 1.0) << "as in transformers";
  EXPECT_EQ(open.top_k, 50);
  const SearchOptions greedy = options_of(R"({"do_sample": false, "temperature": 0.6})");
  EXPECT_EQ(greedy.method, SearchMethod::beam);
  EXPECT_EQ(greedy.beam_size, 1);
}

TEST_F(ImportGenerator, GgufFilesHaveAllInside) {
  test::write_gguf(dir_ / "model.gguf",
                   io::GgufBuilder()
                       .text("tokenizer.chat_template", "{{ bos_token }}{{ messages[0].role }}")
                       .boolean("tokenizer.ggml.add_bos_token", true));
  const TextGenerator generator = import_generator(open_foreign(dir_ / "model.gguf"));
  EXPECT_THAT(generator.ends, ElementsAre(1, 2)) << "</s>, and <|im_end|> by its name";
  ASSERT_TRUE(generator.chat);
  EXPECT_EQ(generator.chat->chat_template.apply({{"user", "hi"}},
                                                {.bos_token = generator.chat->bos_token}),
            "<s>user");
  EXPECT_THAT(read_prompt(generator, "ab").tokens, ElementsAre(0, 4, 5));
}

TEST_F(ImportGenerator, Generates) {
  const TextGenerator generator = load();
  GenerateOptions options;
  options.search = {.beam_size = 1, .max_length = 5};
  const std::vector<GeneratedText> found =
      generate_text(generator, read_prompt(generator, "abc"), options);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_LE(found[0].hypothesis.tokens.size(), 5u);
}

}  // namespace
}  // namespace heed::import_generator_test
