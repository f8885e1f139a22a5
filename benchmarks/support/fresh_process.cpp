#include "benchmarks/support/fresh_process.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "heed/base/error.h"

namespace heed::bench {

// getrusage's ru_maxrss is not used, because it begins with the peak of the process that started
// this one.
double peak_resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) * 1024.0;
  }
  HEED_CHECK(false, "[bench] /proc/self/status has no VmHWM: measuring memory needs Linux");
  return 0.0;
}

double number_of_fresh_process(const std::string& arguments) {
  const std::string command =
      fmt::format("'{}' {}", std::filesystem::read_symlink("/proc/self/exe").string(), arguments);
  std::FILE* const output = popen(command.c_str(), "r");
  HEED_CHECK(output != nullptr, "[bench] {} cannot be started", command);
  double number = -1.0;
  const int read = std::fscanf(output, "%lf", &number);
  HEED_CHECK(pclose(output) == 0 && read == 1, "[bench] {} failed", command);
  return number;
}

}  // namespace heed::bench
