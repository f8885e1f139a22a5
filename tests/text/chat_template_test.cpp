// Chat templates against jinja2: templates in the styles of common models, and those of real ones.
#include "heed/text/chat_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>

#include "heed/io/file.h"
#include "heed/io/gguf.h"
#include "heed/io/json.h"
#include "tests/support/error_message.h"
#include "tests/support/paths.h"

namespace heed::chat_template_test {
namespace {

using testing::HasSubstr;

io::Value golden() {
  return io::parse_json(io::read_file(test::golden_path("chat_templates.json"), 1 << 24),
                        "chat_templates.json");
}

const io::Value& at(const io::Value& value, std::string_view key) {
  return *io::find(*value.table(), key);
}

// The variables of a case, with the tokens that every case has.
io::Value with_tokens(const io::Value& variables) {
  io::Value::Table table = *variables.table();
  table.push_back({"bos_token", {std::string("<s>")}});
  table.push_back({"eos_token", {std::string("</s>")}});
  return {table};
}

TEST(ChatTemplate, TheSameTextAsJinja) {
  const io::Value file = golden();
  for (const io::Member& entry : *at(file, "templates").table()) {
    const ChatTemplate chat(*at(entry.value, "source").string(), entry.key);
    for (const io::Member& result : *at(entry.value, "results").table()) {
      const io::Value variables = with_tokens(at(at(file, "cases"), result.key));
      std::string text, error;
      error = error_message([&] { text = chat.render(variables); });
      if (const io::Value* expected = io::find(*result.value.table(), "error")) {
        EXPECT_THAT(error, HasSubstr(*expected->string())) << entry.key << " " << result.key;
        EXPECT_THAT(error, HasSubstr(entry.key + ", line "));
      } else {
        EXPECT_EQ(error, "(no error)") << entry.key << " " << result.key;
        EXPECT_EQ(text, *at(result.value, "output").string()) << entry.key << " " << result.key;
      }
    }
  }
}

TEST(ChatTemplate, TheTemplatesOfRealModels) {
  const io::Value file = golden();
  const char* set = std::getenv("HEED_MODELS");
  const char* home = std::getenv("HOME");
  const std::filesystem::path folder =
      set ? std::filesystem::path(set)
          : std::filesystem::path(home ? home : "") / ".cache" / "heed-models";
  int found = 0;
  for (const io::Member& model : *at(file, "models").table()) {
    const auto path = folder / model.key / *at(model.value, "file").string();
    if (!std::filesystem::exists(path)) continue;
    ++found;
    const io::GgufFile gguf = io::GgufFile::open(path);
    const ChatTemplate chat(*gguf.metadata().text("tokenizer.chat_template"));
    for (const io::Member& sum : *at(model.value, "crc32").table()) {
      const std::string text = chat.render(with_tokens(at(at(file, "cases"), sum.key)));
      const auto crc = ::crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size());
      EXPECT_EQ(static_cast<std::int64_t>(crc), *sum.value.integer())
          << model.key << sum.key << text;
    }
  }
  if (found == 0) {
    GTEST_SKIP() << "skipped: smollm2-135m-instruct is not in ~/.cache/heed-models";
  }
}

TEST(ChatTemplate, AppliesMessages) {
  const ChatTemplate chat(
      "{{ bos_token }}{% for m in messages %}<{{ m.role }}>{{ m['content'] }}{{ eos_token }}"
      "{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}");
  EXPECT_EQ(chat.apply({{"user", "Hi"}, {"assistant", "Ho"}},
                       {.add_generation_prompt = true, .bos_token = "[", .eos_token = "]"}),
            "[<user>Hi]<assistant>Ho]<assistant>");
  EXPECT_EQ(chat.apply({}), "");
}

TEST(ChatTemplate, ErrorsHaveTheNameAndTheLine) {
  EXPECT_EQ(
      error_message([] { ChatTemplate("a\n{% macro f() %}", "t"); }),
      "[chat template] t, line 2: the tag \"macro\" is not supported: heed knows if, for, set, "
      "break, continue and generation");
  EXPECT_THAT(error_message([] { ChatTemplate(std::string((1 << 20) + 1, 'x'), "t"); }),
              HasSubstr("the limit is 1048576"));
  EXPECT_THAT(error_message([] { ChatTemplate("x").render({std::string("text")}); }),
              HasSubstr("the variables must be an object"));
}

}  // namespace
}  // namespace heed::chat_template_test
