// Fuzzes models in GGUF files: any bytes are either rejected with a heed::Error, or give a language
// model with a tokenizer that can be used.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "fuzz/memory_file.h"
#include "heed/base/error.h"
#include "heed/generation/foreign_folder.h"
#include "heed/generation/generate.h"
#include "heed/io/json.h"
#include "heed/models/importers/gguf.h"

namespace {

using namespace heed;

void use(const io::GgufFile& file) {
  io::TensorSource tensors(file);
  ForeignConfig config = gguf_config(tensors);
  Import import = import_gguf(config, tensors);
  const TextGenerator generator = import_generator(
      {.path = "gguf",
       .config = std::move(config),
       .generation = {io::Value{.data = io::Value::Table{}}, "generation_config.json"},
       .tensors = std::move(tensors),
       .import = std::move(import)});
  fuzz::require(generator.tokenizer->size() <= generator.model->vocabulary());
  GenerateOptions options;
  options.search.max_length = 3;
  generate_text(generator, read_prompt(generator, "ab"), options);
  if (generator.chat) generator.chat->chat_template.apply({{"user", "ab"}});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::byte> copy(reinterpret_cast<const std::byte*>(data),
                                    reinterpret_cast<const std::byte*>(data) + size);
  try {
    use(io::GgufFile::parse(copy, {.allow_trailing_bytes = true}));
  } catch (const Error& error) {
    io::quote_json(error.what());  // throws, and so fails, if the message is not UTF-8
  }
  return 0;
}
