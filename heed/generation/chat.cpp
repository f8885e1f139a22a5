#include "heed/generation/chat.h"

#include <array>
#include <ctime>
#include <utility>

#include "heed/base/error.h"

namespace heed {
namespace {

// Some templates write the date of the chat.
std::string local_time(const std::string& format) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::localtime_r(&now, &parts);
  std::array<char, 256> text{};
  return {text.data(), std::strftime(text.data(), text.size(), format.c_str(), &parts)};
}

}  // namespace

void require_chat(const TextGenerator& generator) {
  HEED_CHECK(generator.chat,
             "[chat] the model's folder has no chat template: use a model that was trained for "
             "chats, or generate without a chat");
}

Prompt read_chat(const TextGenerator& generator, std::span<const ChatMessage> messages) {
  require_chat(generator);
  HEED_CHECK(!messages.empty(), "[chat] there are no messages: give at least one");
  const ChatFormat& format = *generator.chat;
  std::string text = format.chat_template.apply(
      messages,
      {.add_generation_prompt = true, .bos_token = format.bos_token, .eos_token = format.eos_token},
      {.strftime_now = local_time});
  Prompt prompt{.tokens = generator.tokenizer->encode(text), .text = std::move(text)};
  HEED_CHECK(!prompt.tokens.empty(), "[chat] the chat template writes no text for the messages");
  return prompt;
}

Chat::Chat(const TextGenerator& generator, std::string_view system) : generator_(generator) {
  require_chat(generator);
  if (!system.empty()) messages_.push_back({"system", std::string(system)});
}

GeneratedText Chat::answer(std::string_view message, const GenerateOptions& options,
                           const GenerateHooks& hooks) {
  std::vector<ChatMessage> messages = messages_;
  messages.push_back({"user", std::string(message)});
  const Prompt prompt = read_chat(generator_, messages);
  // Steps that end with an exception are not used again.
  std::unique_ptr<EndlessSteps> steps = std::move(steps_);
  const CacheForm cache = options.search.cache;
  if (steps == nullptr || steps->cache() != cache || !steps->continue_to(prompt.tokens)) {
    steps = std::make_unique<EndlessSteps>(*generator_.model, 1, prompt.tokens,
                                           generator_.model->max_length(), cache);
  }
  std::vector<GeneratedText> found = generate_text(generator_, prompt, options, hooks, *steps);
  HEED_CHECK(!found.empty(), "[chat] the model and the options allow no answer");
  messages.push_back({"assistant", found[0].text});
  messages_ = std::move(messages);
  steps_ = std::move(steps);
  return std::move(found[0]);
}

}  // namespace heed
