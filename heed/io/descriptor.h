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

/// Opens a new file without a name for reading and writing, of which a kill leaves nothing. Returns
/// -1 if the file system has no such files, or if /proc, by which such a file gets a name, is not
/// there.
int open_unnamed(const std::filesystem::path& directory);

/// Opens a new file for reading and writing under an unused name, `.heed-*.tmp`.
std::pair<int, std::filesystem::path> open_temporary(const std::filesystem::path& directory);

/// The name, `.heed-*.tmp`, of a complete file that is about to replace this one. It depends on the
/// target alone, so the next writer finds what a killed one has left.
std::filesystem::path replacement_name(const std::filesystem::path& target);

/// Whether a file is one that open_temporary() made in a process that no longer runs.
bool is_leftover(const std::filesystem::path& path);

/// The folder that holds a path.
std::filesystem::path directory_of(const std::filesystem::path& path);

}  // namespace heed::io
