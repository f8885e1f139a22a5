// Small Hugging Face folders with a tokenizer: a golden folder of tests/golden/hf and a vocabulary.
#pragma once

#include <filesystem>
#include <string>

#include "heed/io/file.h"
#include "tests/support/paths.h"

namespace heed::test {

/// Copies a golden folder of BERT and adds a vocab.txt of `tokens` tokens: five special ones, then
/// "a", "b", … and "w31", "w32", ….
inline void make_bert_folder(const std::string& golden, const std::filesystem::path& folder,
                             int tokens = 67) {
  std::filesystem::create_directory(folder);
  for (const char* const name : {"config.json", "model.safetensors"}) {
    std::filesystem::copy_file(golden_path("hf/" + golden + "/" + name), folder / name);
  }
  std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (int i = 5; i < tokens; ++i) {
    vocabulary += i < 31 ? std::string(1, static_cast<char>('a' + i - 5)) : "w" + std::to_string(i);
    vocabulary += '\n';
  }
  io::write_file(folder / "vocab.txt", vocabulary);
  io::write_file(folder / "tokenizer_config.json", R"({"tokenizer_class": "BertTokenizer"})");
}

}  // namespace heed::test
