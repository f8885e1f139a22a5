// Language models of other programs: the tokenizer, the tokens that end texts, the chat template
// and the options of generation that their publisher recommends.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "heed/generation/foreign_folder.h"
#include "heed/io/file.h"
#include "heed/io/json.h"
#include "heed/io/paths.h"
#include "heed/text/pipeline/gguf_tokenizer.h"
#include "heed/text/pipeline/hf_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostTemplateBytes = std::size_t{1} << 20;

// Control tokens that end a turn, whether or not a GGUF file says so.
constexpr std::array<std::string_view, 6> kTurnEnds = {
    "<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<end_of_turn>", "<|endoftext|>", "<|end_of_text|>"};

void add_end(std::vector<std::int32_t>& ends, std::int64_t id, const Tokenizer& tokenizer) {
  if (id < 0 || id >= tokenizer.size()) return;  // no text has such a token
  const auto end = static_cast<std::int32_t>(id);
  if (std::ranges::count(ends, end) == 0) ends.push_back(end);
}

std::vector<std::int32_t> ends_of(const ForeignFolder& folder, const Tokenizer& tokenizer) {
  const bool says = folder.generation.has("eos_token_id");
  std::vector<std::int32_t> ends;
  for (const std::int64_t id :
       (says ? folder.generation : folder.config).integers("eos_token_id")) {
    add_end(ends, id, tokenizer);
  }
  return ends;
}

void add_turn_ends(std::vector<std::int32_t>& ends, const HfTokenizer& tokenizer) {
  for (const std::string_view name : kTurnEnds) {
    const auto id = tokenizer.id_of(name);
    const bool is_control = id && tokenizer.decode({&*id, 1}, true).empty();
    if (is_control) add_end(ends, *id, tokenizer);
  }
}

// ---- chat templates -----------------------------------------------------------------------------

ForeignConfig settings_of(const fs::path& path) {
  if (io::exists(path)) return ForeignConfig::read(path);
  return {io::Value{.data = io::Value::Table{}}, path.string()};
}

// A special token: a text, or a table with its content.
std::string token_text(const ForeignConfig& settings, std::string_view key) {
  const io::Value* const value = io::find(settings.table(), key);
  if (value == nullptr || value->is_null()) return "";
  return value->table() != nullptr ? settings.section(key).text("content", "") : settings.text(key);
}

// One template, or the one named "default" of several.
std::string template_text(const ForeignConfig& settings) {
  constexpr std::string_view kKey = "chat_template";
  const io::Value* const value = io::find(settings.table(), kKey);
  if (value == nullptr || value->is_null()) return "";
  if (value->list() == nullptr) return settings.text(kKey);
  for (const io::Value& one : *value->list()) {
    if (one.table() == nullptr) continue;
    const ForeignConfig named(one, settings.source());
    if (named.text("name", "") == "default") return named.text("template");
  }
  return "";
}

// A template that heed does not understand is an error only when it is used.
ChatTemplate parsed(const std::string& text, const std::string& source) {
  try {
    return ChatTemplate(text, source);
  } catch (const Error& error) {
    // The message of the error that is raised names the file again.
    const std::string_view whole = error.what();
    const std::size_t place = whole.find(", line ");
    const std::string_view reason = place == whole.npos ? whole : whole.substr(place + 2);
    return ChatTemplate("{{ raise_exception(" +
                            io::quote_json(fmt::format("heed cannot read it: {}", reason)) + ") }}",
                        source);
  }
}

std::optional<ChatFormat> folder_chat(const fs::path& folder) {
  const ForeignConfig settings = settings_of(folder / "tokenizer_config.json");
  const fs::path file = folder / "chat_template.jinja";
  const bool is_file = io::exists(file);
  const std::string text =
      is_file ? io::read_file(file, kMostTemplateBytes) : template_text(settings);
  if (text.empty()) return std::nullopt;
  const ForeignConfig more = settings_of(folder / "special_tokens_map.json");
  const auto token = [&](std::string_view key) {
    const std::string own = token_text(settings, key);
    return own.empty() ? token_text(more, key) : own;
  };
  return ChatFormat{.chat_template = parsed(text, is_file ? file.string() : settings.source()),
                    .bos_token = token("bos_token"),
                    .eos_token = token("eos_token")};
}

std::optional<ChatFormat> gguf_chat(const io::GgufMetadata& metadata, const Tokenizer& tokenizer,
                                    const std::string& source) {
  const auto text = metadata.text("tokenizer.chat_template");
  if (!text) return std::nullopt;
  const auto token = [&](std::string_view key) {
    const auto id = metadata.integer(key);
    return id && *id >= 0 && *id < tokenizer.size()
               ? tokenizer.piece(static_cast<std::int32_t>(*id))
               : std::string();
  };
  return ChatFormat{
      .chat_template = parsed(std::string(*text), source + ": \"tokenizer.chat_template\""),
      .bos_token = token("tokenizer.ggml.bos_token_id"),
      .eos_token = token("tokenizer.ggml.eos_token_id")};
}

// ---- the options of generation ------------------------------------------------------------------

// The defaults of transformers take the place of what generation_config.json leaves open.
std::vector<std::string> options_of(const ForeignConfig& generation) {
  std::vector<std::string> options;
  if (generation.has("repetition_penalty")) {
    options.push_back(
        fmt::format("repetition_penalty={}", generation.number("repetition_penalty")));
  }
  if (!generation.has("do_sample")) return options;
  if (!generation.boolean("do_sample", false)) {
    options.insert(options.end(), {"method=beam", "beam_size=1"});
    return options;
  }
  options.push_back("method=sample");
  options.push_back(fmt::format("temperature={}", generation.number("temperature", 1.0)));
  options.push_back(fmt::format("top_k={}", generation.integer("top_k", 50)));
  options.push_back(fmt::format("top_p={}", generation.number("top_p", 1.0)));
  return options;
}

}  // namespace

TextGenerator import_generator(const ForeignFolder& folder) {
  TextGenerator generator{.model = import_as<CausalModel>(folder), .tokenizer = nullptr};
  const io::GgufMetadata* const gguf = folder.tensors.gguf();
  if (gguf != nullptr) {
    const auto tokenizer = read_gguf_tokenizer(*gguf, folder.tensors.name());
    generator.ends = ends_of(folder, *tokenizer);
    add_turn_ends(generator.ends, *tokenizer);
    generator.chat = gguf_chat(*gguf, *tokenizer, folder.tensors.name());
    generator.tokenizer = tokenizer;
  } else {
    generator.tokenizer = read_hf_tokenizer(folder.path);
    generator.ends = ends_of(folder, *generator.tokenizer);
    generator.chat = folder_chat(folder.path);
  }
  generator.options = options_of(folder.generation);
  check_fits(generator.model->vocabulary(), *generator.tokenizer, folder);
  return generator;
}

}  // namespace heed
