// Folders that appear complete under their name, or not at all, like AtomicFile for a file.
#pragma once

#include <filesystem>

#include "heed/base/threads.h"

namespace heed::io {

/// Calls `fill` to write into the folder `temporary`, then syncs it and renames it to `target`.
/// `temporary` must be in the same folder as the target; anything that exists under that name is
/// removed first. The target must not exist. If it fails, the temporary folder is removed; a
/// process that is killed leaves it.
void write_folder(const std::filesystem::path& target, const std::filesystem::path& temporary,
                  FunctionRef<void(const std::filesystem::path& folder)> fill);

/// The same with the name of the target and ".heed-tmp" for the temporary folder.
void write_folder(const std::filesystem::path& target,
                  FunctionRef<void(const std::filesystem::path& folder)> fill);

}  // namespace heed::io
