// Fuzzes the reading of configs from JSON.
#include <cstddef>
#include <cstdint>

#include "fuzz/config_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  heed::fuzz::check_config(
      {reinterpret_cast<const char*>(data), size},
      [](std::string_view text, heed::fuzz::Config& config) { heed::io::load_json(text, config); });
  return 0;
}
