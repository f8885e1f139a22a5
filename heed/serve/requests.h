// The bodies of requests: one struct for each path, whose field visitor reads the JSON, gives
// messages for mistakes, and describes the body in /openapi.json.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heed/io/config.h"
#include "heed/plot/attention_view.h"
#include "heed/serve/exchange.h"
#include "heed/text/chat_template.h"

namespace heed::serve {

/// A text or a list of texts.
struct Texts {
  std::vector<std::string> items = {};
  bool is_list = false;
};

/// The messages of a chat.
struct Messages {
  std::vector<ChatMessage> items = {};
};

enum class TextFormat : std::uint8_t { text, html };
enum class VectorFormat : std::uint8_t { floats, base64 };
enum class AnswerFormat : std::uint8_t { text, json_object };
enum class WeightFormat : std::uint8_t {
  json,         // nested lists
  packed,       // 16 bits per weight in base64, as the page reads them
  safetensors,  // f32 tensors
};
constexpr std::array<io::EnumName<TextFormat>, 2> enum_names(TextFormat) {
  return {{{TextFormat::text, "text"}, {TextFormat::html, "html"}}};
}
constexpr std::array<io::EnumName<VectorFormat>, 2> enum_names(VectorFormat) {
  return {{{VectorFormat::floats, "float"}, {VectorFormat::base64, "base64"}}};
}
constexpr std::array<io::EnumName<AnswerFormat>, 2> enum_names(AnswerFormat) {
  return {{{AnswerFormat::text, "text"}, {AnswerFormat::json_object, "json_object"}}};
}
constexpr std::array<io::EnumName<WeightFormat>, 3> enum_names(WeightFormat) {
  return {{{WeightFormat::json, "json"},
           {WeightFormat::packed, "packed"},
           {WeightFormat::safetensors, "safetensors"}}};
}

/// POST /translate
struct TranslateBody {
  Texts q = {};
  std::string source = "auto", target = {};
  TextFormat format = TextFormat::text;
  std::int64_t alternatives = 0;
  std::optional<std::string> api_key = {};

  void fields(io::Fields& field);
};

struct StreamOptions {
  bool include_usage = false;

  void fields(io::Fields& field);
};

/// The members that completions and chats have in common.
struct Sampling {
  std::optional<std::int64_t> max_tokens = {};
  std::optional<double> temperature = {}, top_p = {}, min_p = {};
  std::optional<double> presence_penalty = {}, frequency_penalty = {}, repetition_penalty = {};
  std::optional<std::int64_t> top_k = {};
  std::int64_t n = 1;
  std::optional<std::int64_t> seed = {};
  Texts stop = {};
  bool stream = false;
  StreamOptions stream_options = {};
  std::optional<std::string> user = {};  // not used

  void fields(io::Fields& field);
};

/// POST /v1/completions
struct CompletionBody {
  std::string model = {};
  Texts prompt = {};
  std::optional<std::int64_t> logprobs = {};
  Sampling sampling = {};

  void fields(io::Fields& field);
};

struct ResponseFormat {
  AnswerFormat type = AnswerFormat::text;

  void fields(io::Fields& field);
};

/// POST /v1/chat/completions
struct ChatBody {
  std::string model = {};
  Messages messages = {};
  std::optional<std::int64_t> max_completion_tokens = {};
  std::optional<bool> logprobs = {};
  std::optional<std::int64_t> top_logprobs = {};
  ResponseFormat response_format = {};
  Sampling sampling = {};

  void fields(io::Fields& field);
};

/// POST /v1/embeddings
struct EmbeddingBody {
  std::string model = {};
  Texts input = {};
  VectorFormat encoding_format = VectorFormat::floats;
  std::optional<std::int64_t> dimensions = {};
  std::optional<std::string> user = {};  // not used

  void fields(io::Fields& field);
};

/// POST /v1/attention
struct AttentionBody {
  std::string model = {};
  std::string input = {};
  std::optional<std::string> result = {};  // of a translator; none: its own translation
  std::string source = {}, target = {};    // languages
  std::vector<plot::AttentionKind> kinds = {};
  std::vector<std::int64_t> layers = {}, heads = {};  // from 1; none: all
  WeightFormat format = WeightFormat::json;

  void fields(io::Fields& field);
};

/// Reads the body of a request: JSON, or what HTML forms send. Throws ApiError (400, 415).
template <io::Section Body>
Body read_body(const HttpRequest& request);

}  // namespace heed::serve

namespace heed::io::detail {

template <>
struct Codec<serve::Texts> {
  static serve::Texts read(const Value& value, const FieldContext& context);
  static Value write(const serve::Texts& member);
  static Value parse(std::string_view text) { return {std::string(text)}; }
  static std::string type_name() { return "string or list of string"; }
};

template <>
struct Codec<serve::Messages> {
  static serve::Messages read(const Value& value, const FieldContext& context);
  static Value write(const serve::Messages& member);
  static Value parse(std::string_view text) { return {std::string(text)}; }
  static std::string type_name() { return "list of messages"; }
};

}  // namespace heed::io::detail
