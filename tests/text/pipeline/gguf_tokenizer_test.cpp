// Tokenizers in GGUF files: golden tokenizers of Hugging Face written as llama.cpp writes them give
// the same ids and texts.
#include "heed/text/pipeline/gguf_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "heed/io/gguf.h"
#include "tests/io/gguf_builder.h"
#include "tests/io/safetensors_support.h"
#include "tests/support/error_message.h"
#include "tests/text/pipeline/golden_tokenizers.h"

namespace heed::gguf_tokenizer_test {
namespace {

using io::GgufBuilder;
using test::member;
using testing::AllOf;
using testing::HasSubstr;

std::shared_ptr<const HfTokenizer> read(const GgufBuilder& built) {
  const io::AlignedBytes bytes(built.str());
  const io::GgufFile file = io::GgufFile::parse(bytes.span(), {}, "model.gguf");
  return read_gguf_tokenizer(file.metadata(), "model.gguf");
}

// The vocabulary of a tokenizer.json as lists of a GGUF file.
struct Lists {
  std::vector<std::string> tokens, merges;
  std::vector<std::int32_t> types;
  std::map<std::string, float> scores;  // of tokens that merges make
};

std::string merged(const io::Value& pair) {
  return *(*pair.list())[0].string() + *(*pair.list())[1].string();
}

Lists lists_of(const io::Value& tokenizer) {
  const io::Value& model = member(tokenizer, "model");
  const io::Value::Table& vocab = *member(model, "vocab").table();
  const io::Value::List& added = *member(tokenizer, "added_tokens").list();
  Lists lists;
  lists.tokens.resize(vocab.size() + added.size());
  for (const io::Member& token : vocab) {
    lists.tokens[static_cast<std::size_t>(*token.value.integer())] = token.key;
  }
  lists.types.assign(lists.tokens.size(), 1);
  for (const io::Value& token : added) {
    const auto id = static_cast<std::size_t>(*member(token, "id").integer());
    lists.tokens[id] = *member(token, "content").string();
    lists.types[id] = *member(token, "special").boolean() ? 3 : 4;
  }
  for (std::size_t id = 0; id < lists.tokens.size(); ++id) {  // as converters fill gaps
    if (!lists.tokens[id].empty()) continue;
    lists.tokens[id] = fmt::format("[PAD{}]", id);
    lists.types[id] = 5;
  }
  for (const io::Value& pair : *member(model, "merges").list()) {
    lists.scores.try_emplace(merged(pair), -static_cast<float>(lists.merges.size()));
    lists.merges.push_back(*(*pair.list())[0].string() + " " + *(*pair.list())[1].string());
  }
  return lists;
}

GgufBuilder builder_of(const Lists& lists, std::string_view model) {
  GgufBuilder file;
  file.text("tokenizer.ggml.model", model);
  file.texts("tokenizer.ggml.tokens", lists.tokens);
  file.i32s("tokenizer.ggml.token_type", lists.types);
  return file;
}

void expect_results(const HfTokenizer& tokenizer, const io::Value& golden, const io::Value& entry) {
  const io::Value::List& lines = *member(golden, "lines").list();
  const io::Value::List& results = *member(entry, "results").list();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (results[i].is_null()) continue;
    const std::string& line = *lines[i].string();
    EXPECT_EQ(test::wide(tokenizer.encode(line)), test::numbers(member(results[i], "ids"))) << line;
    const std::vector<std::int32_t> full = tokenizer.encode_with_special(line);
    EXPECT_EQ(test::wide(full), test::numbers(member(results[i], "full"))) << line;
    EXPECT_EQ(tokenizer.decode(full), *member(results[i], "text").string()) << line;
    EXPECT_EQ(tokenizer.decode(full, false), *member(results[i], "full_text").string()) << line;
  }
}

TEST(GgufTokenizer, ByteLevelBpe) {
  const io::Value golden = test::read_golden_tokenizers("byte_level");
  struct Case {
    const char *name, *pre;
    bool begins;
  };
  for (const Case& one : {Case{"gpt2", "gpt-2", false}, Case{"llama3", "llama-bpe", true},
                          Case{"qwen", "qwen2", false}}) {
    SCOPED_TRACE(one.name);
    const io::Value& entry = test::golden_entry(golden, one.name);
    const Lists lists = lists_of(member(entry, "tokenizer"));
    GgufBuilder file = builder_of(lists, "gpt2");
    file.text("tokenizer.ggml.pre", one.pre).texts("tokenizer.ggml.merges", lists.merges);
    if (one.begins)
      file.u32("tokenizer.ggml.bos_token_id", 0).u32("tokenizer.ggml.eos_token_id", 1);
    const auto tokenizer = read(file);
    expect_results(*tokenizer, golden, entry);
  }
}

TEST(GgufTokenizer, SentencePieceBpe) {
  const io::Value golden = test::read_golden_tokenizers("bpe");
  const io::Value& entry = test::golden_entry(golden, "llama2");
  const Lists lists = lists_of(member(entry, "tokenizer"));
  GgufBuilder file = builder_of(lists, "llama");
  std::vector<float> scores;
  for (const std::string& token : lists.tokens) {
    const auto found = lists.scores.find(token);
    scores.push_back(found == lists.scores.end() ? -1e6f : found->second);
  }
  file.f32s("tokenizer.ggml.scores", scores);
  file.u32("tokenizer.ggml.unknown_token_id", 0).u32("tokenizer.ggml.bos_token_id", 1);
  file.u32("tokenizer.ggml.eos_token_id", 2);
  const auto tokenizer = read(file);
  expect_results(*tokenizer, golden, entry);
  EXPECT_EQ(tokenizer->special(),
            (SpecialTokens{.unknown = 0, .begin = 1, .end = 2, .padding = 0}));
}

// ---- details ------------------------------------------------------------------------------------

GgufBuilder small() {
  GgufBuilder file;
  file.text("tokenizer.ggml.model", "gpt2").text("tokenizer.ggml.pre", "smollm");
  file.texts("tokenizer.ggml.tokens", std::vector<std::string>{"<|end|>", "a", "b", "1", "2", "12",
                                                               "ab", "<think>", "[PAD]"});
  file.i32s("tokenizer.ggml.token_type", {3, 1, 1, 1, 1, 1, 1, 4, 5});
  file.texts("tokenizer.ggml.merges", std::vector<std::string>{"a b", "1 2"});
  return file;
}

TEST(GgufTokenizer, TypesOfTokens) {
  const auto tokenizer = read(small());
  EXPECT_EQ(tokenizer->encode("ab12<|end|>b<think>"), (std::vector<std::int32_t>{6, 3, 4, 0, 2, 7}))
      << "each digit is a word";
  EXPECT_EQ(tokenizer->decode(std::vector<std::int32_t>{6, 0, 7}), "ab<think>")
      << "control tokens are no text";
  EXPECT_EQ(tokenizer->size(), 8) << "unused tokens are left out";
}

TEST(GgufTokenizer, TheBeginTokenIfTheFileSaysSo) {
  GgufBuilder file = small();
  file.u32("tokenizer.ggml.bos_token_id", 0);
  EXPECT_EQ(read(file)->encode_with_special("b"), (std::vector<std::int32_t>{2}));
  file.boolean("tokenizer.ggml.add_bos_token", true);
  EXPECT_EQ(read(file)->encode_with_special("b"), (std::vector<std::int32_t>{0, 2}));
}

TEST(GgufTokenizer, IsSavedAsOthersAre) {
  const auto tokenizer = read(small());
  const auto again = HfTokenizer::parse(tokenizer->files()[0].content, "tokenizer.heed.json");
  EXPECT_EQ(again->encode("ab12<|end|>b"), tokenizer->encode("ab12<|end|>b"));
}

TEST(GgufTokenizer, SaysWhatIsWrong) {
  const auto complaint = [](const GgufBuilder& file) { return error_message([&] { read(file); }); };
  EXPECT_THAT(complaint(GgufBuilder()),
              AllOf(HasSubstr("model.gguf"), HasSubstr("the file has no tokenizer")));
  const auto base = [](std::string_view model) {
    return GgufBuilder()
        .text("tokenizer.ggml.model", model)
        .texts("tokenizer.ggml.tokens", std::vector<std::string>{"a"});
  };
  EXPECT_THAT(complaint(base("bert")), AllOf(HasSubstr("\"bert\""), HasSubstr("gpt2")));
  EXPECT_THAT(complaint(base("gpt2").text("tokenizer.ggml.pre", "viking")),
              AllOf(HasSubstr("\"viking\""), HasSubstr("qwen2")));
  EXPECT_THAT(complaint(base("gpt2").text("tokenizer.ggml.pre", "qwen2")),
              HasSubstr("no \"tokenizer.ggml.merges\""));
  EXPECT_THAT(complaint(base("llama")), HasSubstr("no \"tokenizer.ggml.scores\""));
  EXPECT_THAT(complaint(base("llama").f32s("tokenizer.ggml.scores", {1.0f, 2.0f})),
              HasSubstr("\"tokenizer.ggml.scores\" has 2 entries, and there are 1 tokens"));
  EXPECT_THAT(complaint(base("llama").f32s("tokenizer.ggml.scores", {NAN})),
              HasSubstr("not a number"));
  EXPECT_THAT(complaint(small().u32("tokenizer.ggml.eos_token_id", 99)),
              HasSubstr("\"tokenizer.ggml.eos_token_id\" is 99"));
}

}  // namespace
}  // namespace heed::gguf_tokenizer_test
