#include "heed/text/chat_template.h"

#include "heed/base/error.h"
#include "heed/text/jinja/parser.h"

namespace heed {
namespace {

constexpr std::size_t kMaxTemplateBytes = 1 << 20;  // published ones have up to 20 KB

}  // namespace

ChatTemplate::ChatTemplate(std::string_view source, std::string_view name) : name_(name) {
  HEED_CHECK(source.size() <= kMaxTemplateBytes, "[chat template] {}: {} bytes: the limit is {}",
             name, source.size(), kMaxTemplateBytes);
  body_ = jinja::parse(source, name_);
}

std::string ChatTemplate::apply(std::span<const ChatMessage> messages, const ChatOptions& options,
                                const jinja::RenderOptions& limits) const {
  jinja::List list;
  for (const ChatMessage& message : messages) {
    jinja::Dict dict;
    dict.set("role", message.role);
    dict.set("content", message.content);
    list.emplace_back(std::move(dict));
  }
  jinja::Dict variables;
  variables.set("messages", std::move(list));
  variables.set("add_generation_prompt", options.add_generation_prompt);
  variables.set("bos_token", options.bos_token);
  variables.set("eos_token", options.eos_token);
  return jinja::render(body_, variables, name_, limits);
}

std::string ChatTemplate::render(const io::Value& variables,
                                 const jinja::RenderOptions& limits) const {
  const jinja::Value converted = jinja::from_json(variables);
  HEED_CHECK(converted.dict(), "[chat template] {}: the variables must be an object, found {}",
             name_, describe(variables));
  return jinja::render(body_, *converted.dict(), name_, limits);
}

}  // namespace heed
