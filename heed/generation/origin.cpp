#include "heed/generation/origin.h"

#include <algorithm>
#include <array>

#include "heed/io/file.h"
#include "heed/io/paths.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// The files that importers and tokenizers read, and those that tell other programs the same.
constexpr std::array<std::string_view, 22> kFiles = {"config.json",
                                                     "generation_config.json",
                                                     "tokenizer.json",
                                                     "tokenizer_config.json",
                                                     "special_tokens_map.json",
                                                     "added_tokens.json",
                                                     "chat_template.jinja",
                                                     "vocab.json",
                                                     "vocab.txt",
                                                     "merges.txt",
                                                     "source.spm",
                                                     "target.spm",
                                                     "spiece.model",
                                                     "sentencepiece.bpe.model",
                                                     "tokenizer.model",
                                                     "modules.json",
                                                     "sentence_bert_config.json",
                                                     "config_sentence_transformers.json",
                                                     "1_Pooling/config.json",
                                                     "2_Dense/config.json",
                                                     "2_Normalize/config.json",
                                                     "target_vocab.json"};
constexpr std::size_t kMostBytes = std::size_t{256} << 20;

std::vector<Tokenizer::File> read_files(const fs::path& folder) {
  std::vector<Tokenizer::File> all;
  for (const std::string_view name : kFiles) {
    const fs::path path = folder / name;
    if (io::exists(path)) all.push_back({std::string(name), io::read_file(path, kMostBytes)});
  }
  return all;
}

}  // namespace

Origin::Origin(const std::filesystem::path& folder)
    : Origin([folder] { return read_files(folder); }) {}

void Origin::hold() {
  files_ = read();
  make_ = {};
}

void Origin::replace(Tokenizer::File file) {
  hold();
  std::erase_if(files_, [&](const Tokenizer::File& other) { return other.name == file.name; });
  files_.push_back(std::move(file));
}

void Origin::remove(std::span<const std::string_view> names) {
  hold();
  std::erase_if(files_, [&](const Tokenizer::File& file) {
    return std::ranges::find(names, file.name) != names.end();
  });
}

void Origin::write(const std::filesystem::path& folder) const {
  for (const Tokenizer::File& file : read()) {
    const fs::path path = folder / file.name;
    fs::create_directories(path.parent_path());
    io::write_file(path, file.content);
  }
}

}  // namespace heed
