#include "heed/generation/foreign_folder.h"

#include <utility>

#include "heed/base/error.h"
#include "heed/io/paths.h"
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

}  // namespace

bool is_foreign(const std::filesystem::path& folder) {
  const fs::path path = folder / kConfigFile;
  return io::exists(path) && ForeignConfig::read(path).has("model_type");
}

ForeignFolder open_foreign(const std::filesystem::path& folder) {
  ForeignConfig config = ForeignConfig::read(folder / kConfigFile);
  const Importer& importer = find_importer(config.text("model_type"), config.source());
  io::TensorSource tensors = io::TensorSource::open(folder);
  Import import = importer.read(config, tensors);
  return {.path = folder,
          .config = std::move(config),
          .generation = read_generation(folder),
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
