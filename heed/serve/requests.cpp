#include "heed/serve/requests.h"

#include <fmt/format.h>

#include <charconv>

#include "heed/base/error.h"
#include "heed/generation/options.h"
#include "heed/io/json.h"
#include "heed/serve/api_error.h"
#include "heed/text/unicode.h"

namespace heed::serve {

void TranslateBody::fields(io::Fields& field) {
  field("q", q, "the text, or a list of texts");
  field("source", source, "language of the text, or auto if there is only one to choose");
  field("target", target, "language of the translation");
  field("format", format, "text, or html whose tags are kept");
  field("alternatives", alternatives, "number of further translations", {.min = 0, .max = 16});
  field("api_key", api_key, "the key, if it is in no header");
}

void StreamOptions::fields(io::Fields& field) {
  field("include_usage", include_usage, "whether the last event has the numbers of tokens");
}

void Sampling::fields(io::Fields& field) {
  field("max_tokens", max_tokens, "maximum number of tokens of the result", {.min = 1});
  field("temperature", temperature, "0: the most probable tokens; else sampling; none: the model's",
        {.min = 0, .max = 2});
  field("top_p", top_p, "only the most probable tokens that together reach this probability",
        {.min = 1e-6, .max = 1});
  field("min_p", min_p, "only tokens with this share of the greatest probability",
        {.min = 0, .max = 1});
  field("top_k", top_k, "only the k most probable tokens; 0: all", {.min = 0});
  field("presence_penalty", presence_penalty, "subtracted from scores of tokens of the text",
        {.min = -2, .max = 2});
  field("frequency_penalty", frequency_penalty,
        "subtracted from scores of tokens of the text, as often as they occur",
        {.min = -2, .max = 2});
  field("repetition_penalty", repetition_penalty, "scores of tokens that were there are divided",
        kRepetitionLimits);
  field("n", n, "number of results for each prompt", {.min = 1, .max = 16});
  field("seed", seed, "seed of the random numbers; none: another one for each request");
  field("stop", stop, "strings at which a result ends");
  field("stream", stream, "whether tokens are sent as they come, as server-sent events");
  field("stream_options", stream_options, "options of streams");
  field("user", user, "accepted and not used");
}

void CompletionBody::fields(io::Fields& field) {
  field("model", model, "name of a language model");
  field("prompt", prompt, "the beginning of the text, or a list of them");
  field("logprobs", logprobs,
        "0: log-probabilities of the tokens; 1: the same, for a temperature of 0",
        {.min = 0, .max = 1});
  sampling.fields(field);
}

void ResponseFormat::fields(io::Fields& field) {
  field("type", type, "any text, or a JSON object");
}

void ChatBody::fields(io::Fields& field) {
  field("model", model, "name of a language model with a chat template");
  field("messages", messages, "the chat so far: role and content of each message");
  field("max_completion_tokens", max_completion_tokens, "the newer name of max_tokens", {.min = 1});
  field("logprobs", logprobs, "whether the result has the log-probabilities of its tokens");
  field("top_logprobs", top_logprobs, "0, or 1 for a temperature of 0", {.min = 0, .max = 1});
  field("response_format", response_format, "form of the answer");
  sampling.fields(field);
}

void EmbeddingBody::fields(io::Fields& field) {
  field("model", model, "name of a sentence encoder");
  field("input", input, "the text, or a list of texts");
  field("encoding_format", encoding_format, "form of the vectors");
  field("dimensions", dimensions, "size of the vectors; must be the model's", {.min = 1});
  field("user", user, "accepted and not used");
}

void AttentionBody::fields(io::Fields& field) {
  field("model", model, "name of a model");
  field("input", input, "the text that the model reads");
  field("result", result, "a translation of the text; none: the model's own");
  field("source", source, "language of the text, for models of several");
  field("target", target, "language of the translation, for models of several");
  field("kinds", kinds, "kinds of attention; none: all");
  field("layers", layers, "layers, from 1; none: all", {.min = 1});
  field("heads", heads, "heads, from 1; none: all", {.min = 1});
  field("format", format, "form of the weights");
}

namespace {

int digit_of(char c) {
  int value = -1;
  std::from_chars(&c, &c + 1, value, 16);
  return value;
}

// A name or value of a form.
std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && digit_of(text[i + 1]) >= 0 &&
        digit_of(text[i + 2]) >= 0) {
      plain += static_cast<char>(16 * digit_of(text[i + 1]) + digit_of(text[i + 2]));
      i += 2;
    } else {
      plain += text[i] == '+' ? ' ' : text[i];
    }
  }
  return plain;
}

// "key=value" of each member of a form.
std::vector<std::string> split_form(std::string_view text) {
  std::vector<std::string> members;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('&'), text.size());
    const std::string_view member = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (member.empty()) continue;
    const std::size_t equals = std::min(member.find('='), member.size());
    const std::string name = unescape(member.substr(0, equals));
    const std::string value = unescape(member.substr(std::min(equals + 1, member.size())));
    // An equals sign that was escaped would end the name too early.
    if (name.find('=') != name.npos) throw ApiError(400, "a name of the form has an equals sign");
    if (unicode::find_invalid(name) || unicode::find_invalid(value)) {
      throw ApiError(400, "a name or value of the form is not UTF-8");
    }
    members.push_back(fmt::format("{}={}", name, value));
  }
  return members;
}

}  // namespace

namespace {

// The members of a JSON object; those that are null are as if they were not there.
io::Value read_object(std::string_view text) {
  io::Value value = io::parse_json(text, "request");
  if (!value.table()) throw ApiError(400, "the body must be a JSON object");
  std::erase_if(std::get<io::Value::Table>(value.data),
                [](const io::Member& member) { return member.value.is_null(); });
  return value;
}

}  // namespace

template <io::Section Body>
Body read_body(const HttpRequest& request) {
  Body body;
  try {
    // curl -d says that JSON is a form.
    if (request.content_type.starts_with("application/x-www-form-urlencoded") &&
        !request.body.starts_with('{')) {
      io::set_fields(body, split_form(request.body));
    } else {
      io::Fields(body).read(read_object(request.body), "request");
    }
  } catch (...) {
    throw current_error(true);
  }
  return body;
}
template TranslateBody read_body(const HttpRequest& request);
template CompletionBody read_body(const HttpRequest& request);
template ChatBody read_body(const HttpRequest& request);
template EmbeddingBody read_body(const HttpRequest& request);
template AttentionBody read_body(const HttpRequest& request);

}  // namespace heed::serve

namespace heed::io::detail {
namespace {

[[noreturn]] void fail_member(const Value& value, const FieldContext& context,
                              std::string_view expected) {
  fail("[config] {}: {} must be {}, found {}", to_string(context.source, value.position),
       context.path, expected, describe(value));
}

// The content of a message: a text, or a list of parts that are texts.
std::string content_of(const Value& value, const FieldContext& context) {
  if (value.string()) return *value.string();
  if (!value.list()) fail_member(value, context, "a string or a list of text parts");
  std::string text;
  for (const Value& part : *value.list()) {
    const Value* const content = part.table() ? find(*part.table(), "text") : nullptr;
    if (!content || !content->string()) fail_member(part, context, "a list of text parts");
    text += *content->string();
  }
  return text;
}

}  // namespace

serve::Texts Codec<serve::Texts>::read(const Value& value, const FieldContext& context) {
  if (value.is_null()) return {};
  if (value.string()) return {.items = {*value.string()}};
  if (!value.list()) fail_member(value, context, "a string or a list of strings");
  return {.items = Codec<std::vector<std::string>>::read(value, context), .is_list = true};
}

Value Codec<serve::Texts>::write(const serve::Texts& member) {
  if (!member.is_list) return {member.items.empty() ? std::string() : member.items[0]};
  return Codec<std::vector<std::string>>::write(member.items);
}

serve::Messages Codec<serve::Messages>::read(const Value& value, const FieldContext& context) {
  serve::Messages messages;
  for (const Value& item : expect_list(value, context)) {
    const FieldContext here{
        context.source, fmt::format("{}[{}]", context.path, messages.items.size()), {}};
    const Value* const role = item.table() ? find(*item.table(), "role") : nullptr;
    const Value* const content = item.table() ? find(*item.table(), "content") : nullptr;
    if (!role || !role->string() || !content) {
      fail_member(item, here, "an object with role and content");
    }
    messages.items.push_back({*role->string(), content_of(*content, here)});
  }
  return messages;
}

Value Codec<serve::Messages>::write(const serve::Messages& member) {
  Value::List list;
  for (const ChatMessage& message : member.items) {
    list.push_back({Value::Table{{"role", {message.role}}, {"content", {message.content}}}});
  }
  return {std::move(list)};
}

}  // namespace heed::io::detail
