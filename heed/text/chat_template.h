// Chat templates: the part of Jinja that the templates of published models use. A template turns a
// list of messages into the text that a model continues:
//
//   const ChatTemplate chat(template_text);
//   chat.apply({{"user", "Hello"}}, {.add_generation_prompt = true});
//
// Supported: if, for (with loop.*, if, else, break, continue), set, namespace, comments and white
// space control; arithmetic, comparison, `in`, `is`, `~`, slices, conditional expressions; the
// filters, tests and methods that jinja/builtins.h has. Anything else is refused with its line.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/io/value.h"
#include "heed/text/jinja/interpreter.h"

namespace heed {

/// One turn of a chat.
struct ChatMessage {
  std::string role;  ///< "system", "user", "assistant", …
  std::string content;
};

/// The variables of a template besides the messages.
struct ChatOptions {
  bool add_generation_prompt = false;  ///< Ends with the start of the assistant's answer.
  std::string bos_token = {};
  std::string eos_token = {};
};

/// A template that was read.
class ChatTemplate {
 public:
  /// Parses a template, or throws heed::Error with the line. `name` begins messages.
  explicit ChatTemplate(std::string_view source, std::string_view name = "the chat template");

  /// The text of a chat.
  std::string apply(std::span<const ChatMessage> messages, const ChatOptions& options = {},
                    const jinja::RenderOptions& limits = {}) const;
  std::string apply(std::initializer_list<ChatMessage> messages, const ChatOptions& options = {},
                    const jinja::RenderOptions& limits = {}) const {
    return apply(std::span(messages.begin(), messages.size()), options, limits);
  }
  /// The text for any variables: a JSON object with messages, tools, ….
  std::string render(const io::Value& variables, const jinja::RenderOptions& limits = {}) const;

 private:
  std::string name_;
  jinja::Body body_;
};

}  // namespace heed
