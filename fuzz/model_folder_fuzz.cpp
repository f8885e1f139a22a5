// Fuzzes the reading of model folders: one file of a valid folder is replaced. The folder is either
// rejected with a heed::Error, or gives a model that can be used.
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fuzz/memory_file.h"
#include "heed/generation/classify.h"
#include "heed/generation/embed.h"
#include "heed/generation/fill.h"
#include "heed/generation/generate.h"
#include "heed/generation/model_folder.h"
#include "heed/io/file.h"
#include "tests/generation/tiny_text_model.h"

namespace {

using namespace heed;
using fuzz::require;
namespace fs = std::filesystem;

// Valid folders of each task, and the content of their files.
class Folders {
 public:
  Folders() : root_(fs::temp_directory_path() / ("heed-fuzz-" + std::to_string(::getpid()))) {
    for (const char* const name : {"0", "1", "2", "3", "4"}) fs::create_directories(root_ / name);
    const auto tokenizer = test::letters();
    save_model(test::tiny_translator(tokenizer, tokenizer), root_ / "0");
    save_model(test::tiny_generator(), root_ / "1");
    save_model(test::tiny_classifier(), root_ / "2");
    save_model(test::tiny_embedder(), root_ / "3");
    save_model(test::tiny_filler(), root_ / "4");
  }
  ~Folders() {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  Folders(const Folders&) = delete;
  Folders& operator=(const Folders&) = delete;

  fs::path folder(std::uint8_t number) const { return root_ / std::to_string(number % 5); }

 private:
  fs::path root_;
};

// Sizes of a config are allocated before the parameters are compared with them. A folder that
// claims a model of a terabyte gets an error about memory, which takes too long here.
bool claims_much(std::string_view text) {
  std::size_t digits = 0;
  for (const char c : text) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    digits = digit ? digits + 1 : 0;
    if (digits > 2) return true;
  }
  return false;
}

// Without a sync, which would take most of the time.
void write(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

void use(const LoadedModel& loaded) {
  const std::vector<std::string> texts = {"abc", ""};
  if (const auto* const translator = std::get_if<Translator>(&loaded)) {
    translator->translate(texts, {.search = {.beam_size = 2, .max_length = 4}});
  } else if (const auto* const generator = std::get_if<TextGenerator>(&loaded)) {
    GenerateOptions options;
    options.search.max_length = 4;
    generate_text(*generator, read_prompt(*generator, "ab"), options);
  } else if (const auto* const embedder = std::get_if<TextEmbedder>(&loaded)) {
    embed_texts(*embedder, texts);
  } else if (const auto* const filler = std::get_if<TextFiller>(&loaded)) {
    fill_texts(*filler, std::vector<std::string>{filler->tokenizer->piece(filler->mask)});
  } else if (const auto* const classifier = std::get_if<TextClassifier>(&loaded)) {
    classify_texts(*classifier, texts);
  }
}

}  // namespace

// The first byte chooses the folder, the second the file; the rest is its content.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  static const Folders folders;
  const fs::path folder = folders.folder(data[0]);
  constexpr const char* kFiles[] = {"config.json", "model.safetensors", "tokenizer.heed.json"};
  const fs::path path = folder / kFiles[data[1] % 3];
  const std::string_view content(reinterpret_cast<const char*>(data) + 2, size - 2);
  if (data[1] % 3 == 0 && claims_much(content)) return 0;
  require(fs::exists(path));
  const std::string before = io::read_file(path, 1 << 20);
  write(path, content);
  try {
    use(load_model(folder));
  } catch (const Error&) {
  }
  write(path, before);
  return 0;
}
