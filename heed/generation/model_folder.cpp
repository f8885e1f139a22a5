#include "heed/generation/model_folder.h"

#include <string>

#include "heed/base/error.h"
#include "heed/io/file.h"
#include "heed/io/json.h"

namespace heed {

std::string write_tokenizer(const Tokenizer& tokenizer, const std::filesystem::path& folder,
                            std::string_view prefix) {
  std::string first;
  for (const Tokenizer::File& file : tokenizer.files()) {
    const std::string name = std::string(prefix) + file.name;
    io::write_file(folder / name, file.content);
    if (first.empty()) first = name;
  }
  HEED_ASSERT(!first.empty());
  return first;
}

std::filesystem::path find_model(const std::filesystem::path& folder) {
  if (std::filesystem::exists(folder / kModelConfigFile)) return folder;
  for (const std::string_view name : {kBestCheckpoint, kLastCheckpoint}) {
    if (std::filesystem::exists(folder / name / kModelConfigFile)) return folder / name;
  }
  return folder;
}

std::string kind_of_model(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kModelConfigFile;
  HEED_CHECK(std::filesystem::exists(path),
             "[model] {} has no {}: give the folder of a model that `heed train` has written, or "
             "one of its checkpoints",
             folder.string(), kModelConfigFile);
  constexpr std::size_t kMost = 1 << 20;
  const io::Value value = io::parse_json(io::read_file(path, kMost), path.string());
  const io::Value::Table* const table = value.table();
  const io::Value* const kind = table != nullptr ? io::find(*table, "kind") : nullptr;
  HEED_CHECK(kind != nullptr && kind->string() != nullptr,
             "[model] {}: it has no \"kind\", so it is not a config of heed's", path.string());
  return *kind->string();
}

void check_kind(const std::filesystem::path& folder, std::string_view kind) {
  const std::string found = kind_of_model(folder);
  HEED_CHECK(found == kind, "[model] {} holds a {}, not a {}", folder.string(), found, kind);
}

}  // namespace heed
