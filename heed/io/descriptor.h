// What the writers of files share on POSIX; heed's own, not for its users.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <utility>

namespace heed::io {

/// Throws "cannot VERB PATH" with what the system said last.
[[noreturn]] void fail_with_errno(const char* verb, const std::filesystem::path& path);

/// Writes all bytes, or throws; `path` is who complains.
void write_all(int descriptor, std::span<const std::byte> bytes, const std::filesystem::path& path);

/// Opens a file to read and write under a name that nobody has, `.heed-*.tmp`.
std::pair<int, std::filesystem::path> open_temporary(const std::filesystem::path& directory);

/// The folder that holds a path.
std::filesystem::path directory_of(const std::filesystem::path& path);

}  // namespace heed::io
