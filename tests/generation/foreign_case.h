// A small language model as a Hugging Face folder with a tokenizer of letters, for tests.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "heed/io/file.h"
#include "heed/io/json.h"
#include "heed/models/importers/llama.h"
#include "heed/models/language_model.h"
#include "heed/nn/checkpoint_file.h"
#include "heed/tensor/create.h"
#include "tests/io/gguf_builder.h"
#include "tests/support/temp_dir.h"

namespace heed::test {

inline constexpr std::string_view kForeignConfig =
    R"({"model_type": "llama", "vocab_size": 32, "hidden_size": 8, "num_hidden_layers": 1,
        "num_attention_heads": 2, "intermediate_size": 12, "eos_token_id": 1)";

/// <s>, </s>, <|im_end|>, the letters and the space.
inline std::string letters_json() {
  std::string vocab = R"("<s>": 0, "</s>": 1, "<|im_end|>": 2, " ": 3)";
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    vocab += fmt::format(R"(, "{}": {})", letter, letter - 'a' + 4);
  }
  const auto special = [](int id, std::string_view name) {
    return fmt::format(R"({{"id": {}, "content": "{}", "special": true}})", id, name);
  };
  return fmt::format(
      R"({{"added_tokens": [{}, {}, {}], "normalizer": null, "pre_tokenizer": null,
           "post_processor": null, "decoder": {{"type": "Fuse"}},
           "model": {{"type": "BPE", "vocab": {{{}}}, "merges": []}}}})",
      special(0, "<s>"), special(1, "</s>"), special(2, "<|im_end|>"), vocab);
}

/// Writes weights, tokenizer and config; `more` are members of the config.
inline void write_foreign(const std::filesystem::path& folder, std::string_view more = "") {
  const std::string config =
      fmt::format("{}{}{}}}", kForeignConfig, more.empty() ? "" : ", ", more);
  io::write_file(folder / "config.json", config);
  io::write_file(folder / "tokenizer.json", letters_json());
  const TempDir dir;
  save_tensors(std::vector<NamedTensor>{}, dir / "none.safetensors");
  Import import = import_llama({io::parse_json(config, "config.json"), "config.json"},
                               io::TensorSource::open(dir / "none.safetensors"));
  Generator generator(4);
  const std::unique_ptr<Model> model = import.model.make(generator);
  save_tensors(export_parameters(*model, import.names), folder / "model.safetensors");
}

/// The same model as a GGUF file; `file` may have more metadata.
inline void write_gguf(const std::filesystem::path& path, io::GgufBuilder file = {}) {
  file.text("general.architecture", "llama").u32("llama.block_count", 1);
  file.u32("llama.embedding_length", 8).u32("llama.feed_forward_length", 12);
  file.u32("llama.attention.head_count", 2).u32("llama.context_length", 64);
  file.f32("llama.attention.layer_norm_rms_epsilon", 1e-6);
  std::vector<std::string> tokens = {"<s>", "</s>", "<|im_end|>", "Ġ"};
  for (char letter = 'a'; letter <= 'z'; ++letter) tokens.emplace_back(1, letter);
  std::vector<std::int32_t> types(tokens.size(), 1);
  types[0] = types[1] = types[2] = 3;
  file.text("tokenizer.ggml.model", "gpt2").text("tokenizer.ggml.pre", "gpt-2");
  file.texts("tokenizer.ggml.tokens", tokens).i32s("tokenizer.ggml.token_type", types);
  file.texts("tokenizer.ggml.merges", std::vector<std::string>{});
  file.u32("tokenizer.ggml.bos_token_id", 0).u32("tokenizer.ggml.eos_token_id", 1);
  const auto tensor = [&](std::string_view name, const Shape& shape) {
    const Tensor values = randn(shape);
    file.tensor(name, shape, values.values<float>());
  };
  tensor("token_embd.weight", {32, 8});
  for (const char* const name : {"attn_q", "attn_k", "attn_v", "attn_output"}) {
    tensor(fmt::format("blk.0.{}.weight", name), {8, 8});
  }
  tensor("blk.0.ffn_gate.weight", {12, 8});
  tensor("blk.0.ffn_up.weight", {12, 8});
  tensor("blk.0.ffn_down.weight", {8, 12});
  for (const char* const name : {"blk.0.attn_norm", "blk.0.ffn_norm", "output_norm"}) {
    tensor(fmt::format("{}.weight", name), {8});
  }
  io::write_file(path, file.str());
}

}  // namespace heed::test
