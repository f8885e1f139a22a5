// Fuzzes the state of training in a checkpoint: progress.json and optimizer.safetensors. Any bytes
// are either rejected with a heed::Error, and the optimiser is as before, or read and written again
// as the same.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "fuzz/memory_file.h"
#include "heed/io/config.h"
#include "heed/io/file.h"
#include "heed/nn/linear.h"
#include "heed/tensor/create.h"
#include "heed/training/optimizer.h"
#include "heed/training/progress.h"

namespace {

using namespace heed;
using fuzz::require;

void check_progress(std::string_view text) {
  TrainingProgress progress;
  io::load_json(text, progress);
  TrainingProgress again;
  io::load_json(io::to_json(progress), again);
  require(io::to_json(again) == io::to_json(progress));
}

std::string state_of(const Optimizer& optimizer) {
  static const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("heed-fuzz-" + std::to_string(::getpid()));
  optimizer.save(path);
  const std::string bytes = io::read_file(path, 1 << 20);
  std::filesystem::remove(path);
  return bytes;
}

void check_optimizer(std::string_view bytes) {
  Generator generator(1);
  Linear layer({.in = 2, .out = 3}, generator);
  Adam optimizer(layer.named_parameters());
  const std::string before = state_of(optimizer);
  const fuzz::MemoryFile file(bytes);
  try {
    optimizer.load(file.path());
  } catch (const Error&) {
    require(state_of(optimizer) == before);
    return;
  }
  for (Tensor parameter : layer.parameters()) {
    parameter.set_grad(ones(parameter.shape(), parameter.dtype()));
  }
  optimizer.step({.rate = 0.1});
}

}  // namespace

// The first byte chooses the file; the rest is its content.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view content(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    data[0] % 2 == 0 ? check_progress(content) : check_optimizer(content);
  } catch (const Error&) {
  }
  return 0;
}
