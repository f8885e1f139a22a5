// Chats with a language model that has a chat template.
//
//   Chat chat(generator, "You are a helpful assistant.");
//   chat.answer("Hello", {}).text;
//   chat.answer("What did I say?", {}).text;
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/generation/endless_steps.h"
#include "heed/generation/generate.h"
#include "heed/generation/text_model.h"

namespace heed {

/// Throws heed::Error if the model has no chat template.
void require_chat(const TextGenerator& generator);

/// The messages as the model's template writes them, up to where the answer begins. Special tokens
/// are those that the template writes.
Prompt read_chat(const TextGenerator& generator, std::span<const ChatMessage> messages);

/// A chat that remembers its messages. The model reads each token once, as long as the template
/// only appends to the text of earlier messages.
class Chat {
 public:
  /// `system` is the system message; "" for none. The generator must outlive the chat.
  explicit Chat(const TextGenerator& generator, std::string_view system = "");

  /// The answer to a message. If it throws, the chat is as before. With several results (n_best)
  /// the best one is remembered.
  GeneratedText answer(std::string_view message, const GenerateOptions& options,
                       const GenerateHooks& hooks = {});

  const std::vector<ChatMessage>& messages() const { return messages_; }

 private:
  const TextGenerator& generator_;
  std::vector<ChatMessage> messages_;
  std::unique_ptr<EndlessSteps> steps_;  // what the model has read
};

}  // namespace heed
