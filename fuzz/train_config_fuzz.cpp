// Fuzzes the reading of training configs (train.toml): any text is either rejected with a
// heed::Error, or gives a config that is the same after writing and reading it.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/memory_file.h"
#include "heed/io/config.h"
#include "heed/io/json.h"
#include "heed/training/train_config.h"

namespace {

using namespace heed;
using fuzz::require;

void check(std::string_view text) {
  TrainConfig config;
  io::load_toml(text, config);
  const std::string written = io::to_toml(config);
  TrainConfig again;
  io::load_toml(written, again);
  require(io::to_toml(again) == written);
  config.validate();
  config.models.at(config.model_kind()).validate();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    check({reinterpret_cast<const char*>(data), size});
  } catch (const Error& error) {
    io::quote_json(error.what());  // throws, and so fails, if the message is not UTF-8
  }
  return 0;
}
