#include "heed/models/importers/marian.h"

#include <fmt/format.h>

#include "heed/models/importers/bart.h"

namespace heed {

Import import_marian(const ForeignConfig& config, const io::TensorSource& tensors) {
  return import_bart_family(config, tensors,
                            {.positions = fmt::format("sinusoidal halves=true max_length={}",
                                                      config.integer("max_position_embeddings"))});
}

}  // namespace heed
