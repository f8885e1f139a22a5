#include "heed/generation/foreign_folder.h"

#include <algorithm>
#include <utility>

#include "heed/base/error.h"
#include "heed/generation/gguf_files.h"
#include "heed/io/config.h"
#include "heed/io/paths.h"
#include "heed/models/importers/encoder.h"
#include "heed/models/importers/gguf.h"
#include "heed/models/importers/importers.h"
#include "heed/models/importers/sentence_modules.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kConfigFile = "config.json";
constexpr std::string_view kGenerationFile = "generation_config.json";

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

// A dense layer of sentence-transformers is in a folder of its own.
void join_dense(io::TensorSource& tensors, const fs::path& place) {
  const std::optional<SentenceModules> modules = read_sentence_modules(place);
  if (!modules || !modules->dense) return;
  tensors.join(io::TensorSource::open(place / modules->dense->folder), kDensePrefix);
}

}  // namespace

bool is_foreign(const std::filesystem::path& place) {
  if (is_gguf(place)) return true;
  const fs::path path = place / kConfigFile;
  if (!io::exists(path)) return false;
  const io::Value value = io::detail::read_config(path);
  return value.table() != nullptr && io::find(*value.table(), "model_type") != nullptr;
}

ForeignFolder open_foreign(const std::filesystem::path& place) {
  io::TensorSource tensors = io::TensorSource::open(place);
  const bool is_whole = tensors.gguf() != nullptr;  // a GGUF file has everything
  ForeignConfig config = is_whole ? gguf_config(tensors) : ForeignConfig::read(place / kConfigFile);
  check_plain(config);
  if (!is_whole) join_dense(tensors, place);
  Import import =
      is_whole ? import_gguf(config, tensors)
               : find_importer(config.text("model_type"), config.source()).read(config, tensors);
  return {.path = place,
          .config = std::move(config),
          .generation = read_generation(place),
          .tensors = std::move(tensors),
          .import = std::move(import),
          .make_model = {}};
}

ForeignConfig read_generation(const std::filesystem::path& folder) {
  const fs::path path = folder / kGenerationFile;
  if (io::exists(path)) return ForeignConfig::read(path);
  return {io::Value{.data = io::Value::Table{}}, path.string()};
}

std::shared_ptr<Origin> origin_of(const ForeignFolder& folder) {
  if (folder.tensors.gguf() != nullptr) {
    // Made only for a model that is written again: the tokenizer is most of the time to load one.
    return std::make_shared<Origin>([path = folder.path] {
      const ForeignFolder again = open_foreign(path);
      return gguf_files(again.config, again.tensors);
    });
  }
  return std::make_shared<Origin>(folder.path);
}

void check_fits(std::int64_t vocabulary, const Tokenizer& tokenizer, const ForeignFolder& folder) {
  HEED_CHECK(tokenizer.size() <= vocabulary,
             "[import] {}: the model has a vocabulary of {}, its tokenizer {} tokens: they do not "
             "belong together",
             folder.path.string(), vocabulary, tokenizer.size());
}

}  // namespace heed
