#include "heed/generation/foreign_folder.h"

#include <algorithm>
#include <utility>

#include "heed/base/error.h"
#include "heed/io/paths.h"
#include "heed/models/importers/gguf.h"
#include "heed/models/importers/importers.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kConfigFile = "config.json";
constexpr std::string_view kGenerationFile = "generation_config.json";

ForeignConfig read_generation(const fs::path& folder) {
  const fs::path path = folder / kGenerationFile;
  if (io::exists(path)) return ForeignConfig::read(path);
  return {io::Value{.data = io::Value::Table{}}, path.string()};
}

bool has_gguf_ending(const fs::path& path) { return path.extension() == ".gguf"; }

// A file, or a folder without a config that has one.
bool is_gguf(const fs::path& path) {
  if (!io::exists(path)) return false;
  if (!io::is_folder(path)) return has_gguf_ending(path);
  return !io::exists(path / kConfigFile) &&
         std::ranges::any_of(io::list_folder(path), has_gguf_ending);
}

void check_plain(const ForeignConfig& config) {
  if (!config.has("quantization_config")) return;
  const ForeignConfig how = config.section("quantization_config");
  fail(
      "[import] {}: the weights are quantised by {}: heed reads weights in F32, F16 and BF16, and "
      "the quantised ones of GGUF files",
      config.source(), io::in_quotes(how.text("quant_method", "another program")));
}

}  // namespace

bool is_foreign(const std::filesystem::path& place) {
  if (is_gguf(place)) return true;
  const fs::path path = place / kConfigFile;
  return io::exists(path) && ForeignConfig::read(path).has("model_type");
}

ForeignFolder open_foreign(const std::filesystem::path& place) {
  io::TensorSource tensors = io::TensorSource::open(place);
  const bool is_whole = tensors.gguf() != nullptr;  // a GGUF file has everything
  ForeignConfig config = is_whole ? gguf_config(tensors) : ForeignConfig::read(place / kConfigFile);
  check_plain(config);
  Import import =
      is_whole ? import_gguf(config, tensors)
               : find_importer(config.text("model_type"), config.source()).read(config, tensors);
  return {.path = place,
          .config = std::move(config),
          .generation = read_generation(place),
          .tensors = std::move(tensors),
          .import = std::move(import)};
}

void check_fits(std::int64_t vocabulary, const Tokenizer& tokenizer, const ForeignFolder& folder) {
  HEED_CHECK(tokenizer.size() <= vocabulary,
             "[import] {}: the model has a vocabulary of {}, its tokenizer {} tokens: they do not "
             "belong together",
             folder.path.string(), vocabulary, tokenizer.size());
}

}  // namespace heed
