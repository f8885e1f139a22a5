// Where the files lie that tests read.
#pragma once

#include <filesystem>
#include <string>

namespace heed::test {

/// A file of this project, by its path in the tree.
std::filesystem::path project_path(const std::string& name);

/// A file of tests/golden.
std::filesystem::path golden_path(const std::string& name);

/// A file of the data sets that are not part of the project, which may not exist. HEED_DATA names
/// their folder.
std::filesystem::path shared_data(const std::string& name);

}  // namespace heed::test

/// Skips the test, with a line saying so, where a file of the shared data is absent.
#define HEED_NEED_SHARED_DATA(path)                                                      \
  do {                                                                                   \
    if (!std::filesystem::exists(path)) GTEST_SKIP() << (path).string() << " is absent"; \
  } while (false)
