#include "tests/support/paths.h"

#include <cstdlib>

namespace heed::test {

// The one place that knows where the project lies: all other files compile alike wherever that is,
// so that a compiler cache serves every checkout.
std::filesystem::path project_path(const std::string& name) {
  return std::filesystem::path(HEED_PROJECT_DIR) / name;
}

std::filesystem::path golden_path(const std::string& name) {
  return project_path("tests/golden") / name;
}

std::filesystem::path shared_data(const std::string& name) {
  const char* const folder = std::getenv("HEED_DATA");
  return (folder == nullptr ? project_path("../shared/data") : std::filesystem::path(folder)) /
         name;
}

}  // namespace heed::test
