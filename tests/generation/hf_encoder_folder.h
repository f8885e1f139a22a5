// A small encoder of Hugging Face with a tokenizer of words, as a folder: a golden folder of
// tests/golden/hf and a tokenizer.json beside it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "heed/io/file.h"
#include "tests/support/paths.h"
#include "tests/support/temp_dir.h"

namespace heed::test {

/// Words, [CLS] text [SEP] and, of pairs, [CLS] a [SEP] b [SEP] with types 0 and 1.
inline constexpr std::string_view kWordTokenizer = R"({
  "added_tokens": [
    {"id": 0, "content": "[PAD]", "special": true}, {"id": 1, "content": "[UNK]", "special": true},
    {"id": 2, "content": "[MASK]", "special": true}, {"id": 3, "content": "[CLS]", "special": true},
    {"id": 4, "content": "[SEP]", "special": true}],
  "normalizer": {"type": "Lowercase"},
  "pre_tokenizer": {"type": "WhitespaceSplit"},
  "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 4], "cls": ["[CLS]", 3]},
  "model": {"type": "WordLevel", "unk_token": "[UNK]",
            "vocab": {"[PAD]": 0, "[UNK]": 1, "[MASK]": 2, "[CLS]": 3, "[SEP]": 4,
                      "a": 5, "dog": 6, "runs": 7, "cat": 8, "sleeps": 9, "the": 10}}
})";

class HfEncoderFolder {
 public:
  explicit HfEncoderFolder(const std::string& golden) {
    for (const char* const file : {"config.json", "model.safetensors"}) {
      std::filesystem::copy_file(golden_path("hf/" + golden + "/" + file), dir_ / file);
    }
    write("tokenizer.json", kWordTokenizer);
  }

  void write(const std::string& name, std::string_view text) {
    std::filesystem::create_directories((dir_ / name).parent_path());
    io::write_file(dir_ / name, text);
  }
  void edit_config(const std::string& from, const std::string& to) {
    std::string text = io::read_file(dir_ / "config.json", 1 << 20);
    text.replace(text.find(from), from.size(), to);
    write("config.json", text);
  }
  const std::filesystem::path& path() const { return dir_.path(); }

 private:
  TempDir dir_;
};

}  // namespace heed::test
