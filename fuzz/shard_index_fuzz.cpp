// Fuzzes the index of sharded weights: any bytes are either rejected with a heed::Error or give
// file names that stay in the folder.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "heed/base/error.h"
#include "heed/io/json.h"
#include "heed/io/shard_index.h"

namespace {

using namespace heed;

void require(bool condition) {
  if (!condition) std::abort();
}

void check(const io::ShardIndex& index) {
  require(!index.files.empty() && !index.tensors.empty());
  for (const std::string& file : index.files) {
    require((std::filesystem::path("folder") / file).parent_path() == "folder");
    require(std::filesystem::path(file).filename() == file && file != "..");
  }
  for (const auto& [name, file] : index.tensors) require(file < index.files.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    check(io::parse_shard_index({reinterpret_cast<const char*>(data), size}, "index"));
  } catch (const Error& error) {
    io::quote_json(error.what());  // throws, and so fails, if the message is not UTF-8
  }
  return 0;
}
