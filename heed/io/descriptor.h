// POSIX helpers shared by the writers of files; internal to heed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <utility>

namespace heed::io {

/// Throws "cannot VERB PATH" with the system's error message (errno).
[[noreturn]] void fail_with_errno(const char* verb, const std::filesystem::path& path);

/// Writes all bytes, or throws an error that names `path`.
void write_all(int descriptor, std::span<const std::byte> bytes, const std::filesystem::path& path);

/// The n-th name for a temporary file of this process: `.heed-*.tmp`.
std::filesystem::path temporary_name(const std::filesystem::path& directory, int n);

/// Opens a new file for reading and writing under an unused name, `.heed-*.tmp`.
std::pair<int, std::filesystem::path> open_temporary(const std::filesystem::path& directory);

/// Whether a file is one that open_temporary() made in a process that no longer runs.
bool is_leftover(const std::filesystem::path& path);

/// The folder that holds a path.
std::filesystem::path directory_of(const std::filesystem::path& path);

}  // namespace heed::io
