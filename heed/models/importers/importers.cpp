#include "heed/models/importers/importers.h"

#include <vector>

#include "heed/base/error.h"
#include "heed/io/value.h"
#include "heed/models/importers/gemma.h"
#include "heed/models/importers/gpt2.h"
#include "heed/models/importers/llama.h"

namespace heed {
namespace {

// clang-format off
constinit const Importer kImporters[] = {
    kImportLlama,
    kImportMistral,
    kImportQwen2,
    kImportQwen3,
    kImportGemma2,
    kImportGemma3,
    kImportGpt2,
};
// clang-format on

}  // namespace

std::span<const Importer> importers() { return kImporters; }

const Importer& find_importer(std::string_view model_type, std::string_view source) {
  std::vector<std::string_view> known;
  for (const Importer& importer : kImporters) {
    if (importer.model_type == model_type) return importer;
    known.push_back(importer.model_type);
  }
  fail("[import] {}: heed does not know the architecture {}: it reads {}", source,
       io::in_quotes(model_type), fmt::join(known, ", "));
}

}  // namespace heed
