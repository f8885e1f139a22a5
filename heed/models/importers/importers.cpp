#include "heed/models/importers/importers.h"

#include <vector>

#include "heed/base/error.h"
#include "heed/io/value.h"
#include "heed/models/importers/bart.h"
#include "heed/models/importers/bert.h"
#include "heed/models/importers/distilbert.h"
#include "heed/models/importers/gemma.h"
#include "heed/models/importers/gpt2.h"
#include "heed/models/importers/llama.h"
#include "heed/models/importers/marian.h"
#include "heed/models/importers/mpnet.h"
#include "heed/models/importers/reformer.h"
#include "heed/models/importers/roberta.h"
#include "heed/models/importers/t5.h"

namespace heed {
namespace {

// clang-format off
constinit const Importer kImporters[] = {
    kImportLlama,
    kImportMistral,
    kImportQwen2,
    kImportQwen3,
    kImportBert,
    kImportDistilbert,
    kImportRoberta,
    kImportXlmRoberta,
    kImportCamembert,
    kImportMpnet,
    kImportGemma2,
    kImportGemma3,
    kImportGpt2,
    kImportReformer,
    kImportMarian,
    kImportBart,
    kImportMBart,
    kImportM2m100,
    kImportT5,
    kImportMt5,
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
