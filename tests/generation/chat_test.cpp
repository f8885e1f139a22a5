// Chats: the prompt that a template writes, and turns that read only what is new.
#include "heed/generation/chat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/models/language_model.h"
#include "heed/text/pipeline/hf_tokenizer.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

using testing::HasSubstr;
using Tokens = std::vector<std::int32_t>;

constexpr std::string_view kTemplate =
    "{{ bos_token }}{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

// Characters, and special tokens 1 to 3.
std::shared_ptr<const Tokenizer> characters() {
  std::string vocabulary = R"("<unk>": 0, "<s>": 1, "<|im_start|>": 2, "<|im_end|>": 3)";
  std::int32_t id = 4;
  for (const char c : std::string_view("abcdeimnrstuy ")) {
    vocabulary += fmt::format(R"(, "{}": {})", c, id++);
  }
  vocabulary += fmt::format(R"(, "\n": {})", id);
  return HfTokenizer::parse(
      fmt::format(R"({{"added_tokens": [{{"id": 1, "content": "<s>", "special": true}},
                                        {{"id": 2, "content": "<|im_start|>", "special": true}},
                                        {{"id": 3, "content": "<|im_end|>", "special": true}}],
                       "decoder": {{"type": "Fuse"}},
                       "model": {{"type": "BPE", "unk_token": "<unk>", "merges": [],
                                  "vocab": {{{}}}}}}})",
                  vocabulary),
      "tokenizer.json");
}

// Counts the tokens that the model reads.
class CountedDecoding : public Decoding {
 public:
  CountedDecoding(std::unique_ptr<Decoding> inner, std::int64_t& count)
      : inner_(std::move(inner)), count_(count) {}
  Tensor step(const Tensor& ids) override {
    count_ += ids.numel();
    return inner_->step(ids);
  }
  void reorder(std::span<const std::int64_t> from) override { inner_->reorder(from); }
  void observe(std::vector<LayerWeights>& to, ObservedWeights what) override {
    inner_->observe(to, what);
  }

 private:
  std::unique_ptr<Decoding> inner_;
  std::int64_t& count_;
};

class CountedModel : public LanguageModel {
 public:
  using LanguageModel::LanguageModel;
  std::unique_ptr<Decoding> start(std::int64_t batch, CacheForm cache) const override {
    return std::make_unique<CountedDecoding>(LanguageModel::start(batch, cache), count);
  }
  mutable std::int64_t count = 0;
};

TextGenerator chat_generator(const std::string& positions = "sinusoidal") {
  const auto tokenizer = characters();
  Generator random(3);
  LanguageModelConfig config{.vocabulary = tokenizer->size(), .layers = 2};
  config.block.embed = 16;
  config.block.heads = 2;
  config.block.positions = positions;
  auto model = std::make_unique<CountedModel>(config, random);
  model->eval();
  return {.model = std::move(model),
          .tokenizer = tokenizer,
          .ends = {3},
          .chat = ChatFormat{ChatTemplate(kTemplate), "<s>", "</s>"}};
}

GenerateOptions greedy(std::int64_t length) {
  return {.search = {.beam_size = 1, .max_length = length}};
}

TEST(Chat, IsReadAsTheTemplateWritesIt) {
  const TextGenerator generator = chat_generator();
  const std::vector<ChatMessage> messages = {{"system", "be a bat"}, {"user", "ab"}};
  const Prompt prompt = read_chat(generator, messages);
  EXPECT_EQ(prompt.text,
            "<s><|im_start|>system\nbe a bat<|im_end|>\n<|im_start|>user\nab<|im_end|>\n"
            "<|im_start|>assistant\n");
  EXPECT_EQ(prompt.tokens, generator.tokenizer->encode(prompt.text));
  EXPECT_EQ(prompt.tokens[0], 1);
  EXPECT_EQ(std::ranges::count(prompt.tokens, 1), 1) << "the template wrote the begin token";
  EXPECT_EQ(std::ranges::count(prompt.tokens, 2), 3);
  EXPECT_EQ(std::ranges::count(prompt.tokens, 3), 2);
}

TEST(Chat, RemembersItsTurns) {
  const TextGenerator generator = chat_generator();
  Chat chat(generator, "be");
  std::vector<ChatMessage> expected = {{"system", "be"}};
  for (const char* const message : {"ab", "a cat", "nuts"}) {
    expected.push_back({"user", message});
    const std::string answer =
        generate_text(generator, read_chat(generator, expected), greedy(12))[0].text;
    std::string told;
    const auto tell = [&](const std::string& text) { told += text; };
    EXPECT_EQ(chat.answer(message, greedy(12), {.on_text = tell}).text, answer);
    EXPECT_EQ(told, answer);
    expected.push_back({"assistant", answer});
    ASSERT_EQ(chat.messages().size(), expected.size());
    EXPECT_EQ(chat.messages().back().content, answer);
  }
}

TEST(Chat, ReadsOnlyWhatIsNew) {
  const TextGenerator generator = chat_generator();
  const auto& model = dynamic_cast<const CountedModel&>(*generator.model);
  Chat chat(generator);
  std::int64_t total = 0;
  for (int turn = 0; turn < 4; ++turn) {
    const GeneratedText answer = chat.answer("a cat", greedy(10));
    std::vector<ChatMessage> before = chat.messages();
    before.pop_back();
    const auto prompt = std::ssize(read_chat(generator, before).tokens);
    // The last token of an answer that was cut is not read yet.
    const bool is_cut = answer.hypothesis.finish == Finish::length;
    total = prompt + std::ssize(answer.hypothesis.tokens) - (is_cut ? 1 : 0);
    EXPECT_EQ(model.count, total) << "turn " << turn;
  }
}

TEST(Chat, GoesOnAfterTheContextIsFull) {
  const TextGenerator generator = chat_generator("learned max_length=40");
  Chat chat(generator);
  for (int turn = 0; turn < 4; ++turn) {
    const GeneratedText answer = chat.answer("a cat", greedy(10));
    std::vector<ChatMessage> before = chat.messages();
    before.pop_back();
    // Without a chat, a prompt that is longer than the context is an error.
    const Prompt prompt = read_chat(generator, before);
    EndlessSteps steps(*generator.model, 1, prompt.tokens, generator.model->max_length());
    EXPECT_EQ(answer.text, generate_text(generator, prompt, greedy(10), {}, steps)[0].text);
  }
}

TEST(Chat, IsAsBeforeIfAnAnswerFails) {
  const TextGenerator generator = chat_generator();
  Chat chat(generator), other(generator);
  const std::string first = chat.answer("ab", greedy(9)).text;
  int steps = 0;
  const auto stop = [&] {
    if (++steps == 4) throw Error("enough");
  };
  EXPECT_EQ(error_message([&] { chat.answer("nuts", greedy(9), {.on_step = stop}); }), "enough");
  EXPECT_EQ(chat.messages().size(), 2u);
  EXPECT_EQ(other.answer("ab", greedy(9)).text, first);
  EXPECT_EQ(chat.answer("cat", greedy(9)).text, other.answer("cat", greedy(9)).text);
}

TEST(Chat, NamesMistakes) {
  TextGenerator generator = chat_generator();
  EXPECT_THAT(error_message([&] { read_chat(generator, {}); }), HasSubstr("there are no messages"));
  generator.chat.reset();
  EXPECT_THAT(error_message([&] { Chat{generator}; }), HasSubstr("no chat template"));
  const std::vector<ChatMessage> messages = {{"user", "a"}};
  EXPECT_THAT(error_message([&] { read_chat(generator, messages); }),
              HasSubstr("no chat template"));
}

}  // namespace
}  // namespace heed
