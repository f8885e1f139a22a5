#include "benchmarks/attention/memory_point.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "benchmarks/support/measure.h"
#include "heed/attention/attention.h"
#include "heed/attention/masks/window.h"
#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/tensor/create.h"

namespace heed::bench {
namespace {

// Not getrusage's ru_maxrss: that begins with the peak of the process that started this one.
double peak_resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) * 1024.0;
  }
  HEED_CHECK(false, "[bench] /proc/self/status tells no VmHWM: memory needs Linux");
  return 0.0;
}

AttentionSpec spec_of(const std::string& variant) {
  if (variant == "causal") return {.see = causal()};
  if (variant == "window") return {.see = window(255, 0)};
  HEED_CHECK(variant == "none", "[bench] no memory of variant '{}'", variant);
  return {};
}

void run(const MemoryPoint& point) {
  const Shape shape = {1, 1, point.n, kMemoryD};
  Tensor q = randn(shape), k = randn(shape), v = randn(shape);
  if (point.direction == "forward") {
    const NoGrad off;
    attention(q, k, v, spec_of(point.variant));
    return;
  }
  for (Tensor* x : {&q, &k, &v}) x->requires_grad();
  const Tensor dy = randn(shape);
  backward(attention(q, k, v, spec_of(point.variant)), dy);
}

}  // namespace

double peak_bytes(const MemoryPoint& point) {
  const std::string command =
      fmt::format("'{}' {} {} {} {}", std::filesystem::read_symlink("/proc/self/exe").string(),
                  kMemoryPoint, point.variant, point.direction, point.n);
  std::FILE* const output = popen(command.c_str(), "r");
  HEED_CHECK(output != nullptr, "[bench] {} cannot be started", command);
  double bytes = -1.0;
  const int read = std::fscanf(output, "%lf", &bytes);
  HEED_CHECK(pclose(output) == 0 && read == 1, "[bench] {} failed", command);
  return bytes;
}

int print_memory_point(std::span<const std::string_view> words) {
  HEED_CHECK(words.size() == 4, "[bench] {} VARIANT DIRECTION N", kMemoryPoint);
  const MemoryPoint point{std::string(words[1]), std::string(words[2]),
                          std::stoll(std::string(words[3]))};
  const Threads use(2);
  run({point.variant, point.direction, 64});  // what is needed once, whatever the size
  const double before = peak_resident_bytes();
  run(point);
  fmt::print("{}\n", peak_resident_bytes() - before);
  return 0;
}

}  // namespace heed::bench
