// Folders that appear complete under their name, or not at all: what AtomicFile is for a file.
#pragma once

#include <filesystem>

#include "heed/base/threads.h"

namespace heed::io {

/// Writes a folder by `fill`, which is given `temporary` to write into: a name beside the target's,
/// which whatever has it loses. It is synced and renamed then. The target must not exist. A process
/// killed in between leaves at most the temporary.
void write_folder(const std::filesystem::path& target, const std::filesystem::path& temporary,
                  FunctionRef<void(const std::filesystem::path& folder)> fill);

}  // namespace heed::io
