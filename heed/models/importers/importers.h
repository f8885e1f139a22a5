// The list of architectures that heed reads. Folders, Python and the documents read it; a new
// architecture is one file and one line here.
#pragma once

#include <span>
#include <string_view>

#include "heed/models/importers/importer.h"

namespace heed {

std::span<const Importer> importers();

/// The importer of a "model_type"; the error for an unknown one names the file and lists what there
/// is.
const Importer& find_importer(std::string_view model_type, std::string_view source);

}  // namespace heed
