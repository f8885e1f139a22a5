#include "heed/generation/gguf_files.h"

#include "heed/base/error.h"
#include "heed/io/json.h"
#include "heed/text/pipeline/gguf_tokenizer.h"

namespace heed {
namespace {

io::Value text_value(std::string_view text) { return {.data = std::string(text)}; }

// The special tokens and the chat template.
io::Value::Table tokenizer_settings(const io::GgufMetadata& metadata, const Tokenizer& tokenizer) {
  io::Value::Table table;
  table.push_back({"tokenizer_class", text_value("PreTrainedTokenizerFast")});
  const auto add_token = [&](std::string_view key, const char* name) {
    const auto id = metadata.integer(key);
    if (!id || *id < 0 || *id >= tokenizer.size()) return;
    table.push_back({name, text_value(tokenizer.piece(static_cast<std::int32_t>(*id)))});
  };
  add_token("tokenizer.ggml.bos_token_id", "bos_token");
  add_token("tokenizer.ggml.eos_token_id", "eos_token");
  add_token("tokenizer.ggml.padding_token_id", "pad_token");
  if (const auto chat = metadata.text("tokenizer.chat_template")) {
    table.push_back({"chat_template", text_value(*chat)});
  }
  return table;
}

}  // namespace

std::vector<Tokenizer::File> gguf_files(const ForeignConfig& config,
                                        const io::TensorSource& tensors) {
  const io::GgufMetadata* const metadata = tensors.gguf();
  HEED_ASSERT(metadata != nullptr);
  const auto tokenizer = read_gguf_tokenizer(*metadata, tensors.name());
  const auto json = [](io::Value::Table table) {
    return io::write_json({.data = std::move(table)}, true) + "\n";
  };
  return {{"config.json", json(config.table())},
          {"tokenizer.json", pipeline::gguf_tokenizer_json(*metadata, tensors.name())},
          {"tokenizer_config.json", json(tokenizer_settings(*metadata, *tokenizer))}};
}

}  // namespace heed
