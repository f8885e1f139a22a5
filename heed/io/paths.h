// Questions to the file system, with errors of heed: every error names the path and gives the
// system's message. Those of std::filesystem throw filesystem_error, for example for a name that is
// too long or a folder that may not be read; and its lists of folders end the process if memory is
// short (libstdc++ 12).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace heed::io {

/// Whether there is a file or folder of that name. A broken symbolic link is none.
bool exists(const std::filesystem::path& path);

/// Whether there is a folder of that name.
bool is_folder(const std::filesystem::path& path);

/// The paths of all that is in a folder, sorted.
std::vector<std::filesystem::path> list_folder(const std::filesystem::path& folder);

/// Removes a file, a link or a folder with all that is in it, if it is there.
void remove_tree(const std::filesystem::path& path);

/// The message of an error of std::filesystem: "[file] PATH: Permission denied".
std::string message_of(const std::filesystem::filesystem_error& error);

}  // namespace heed::io
