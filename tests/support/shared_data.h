// Data sets that are not part of the project: HEED_DATA names their folder. Tests that need one
// skip where it is absent.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace heed::test {

/// The path of a file among the shared data, which may not exist.
inline std::filesystem::path shared_data(const std::string& name) {
  const char* const folder = std::getenv("HEED_DATA");
  return std::filesystem::path(folder == nullptr ? HEED_SHARED_DATA_DEFAULT : folder) / name;
}

}  // namespace heed::test

/// Skips the test, with a line saying so, where a file of the shared data is absent.
#define HEED_NEED_SHARED_DATA(path)                                                      \
  do {                                                                                   \
    if (!std::filesystem::exists(path)) GTEST_SKIP() << (path).string() << " is absent"; \
  } while (false)
