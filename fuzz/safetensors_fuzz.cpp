// Fuzzes the safetensors reader: any bytes are either rejected with a heed::Error or read, and what
// was read can be written and read again.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "heed/io/safetensors.h"

namespace {

using namespace heed;

void require(bool condition) {
  if (!condition) std::abort();
}

// The format allows an empty name; the writer does not.
bool can_be_written(const io::SafetensorsFile& file) {
  for (const io::SafetensorsEntry& entry : file.entries()) {
    if (!entry.dtype || entry.name.empty()) return false;
  }
  return true;
}

void check(const io::SafetensorsFile& file, std::span<const std::byte> input) {
  std::vector<io::SafetensorsItem> items;
  for (const io::SafetensorsEntry& entry : file.entries()) {
    require(file.contains(entry.name));
    require(entry.bytes.data() >= input.data());
    require(entry.bytes.data() + entry.bytes.size() <= input.data() + input.size());
    if (!entry.dtype) continue;
    require(&file.find(entry.name) == &entry);
    require(entry.bytes.size() ==
            static_cast<std::size_t>(numel(entry.shape)) * size_of(*entry.dtype));
    items.push_back({entry.name, io::tensor_type_of(*entry.dtype), entry.shape, entry.bytes});
  }
  if (!can_be_written(file)) return;
  const std::vector<std::byte> bytes = io::safetensors_bytes(items, file.metadata());
  const io::SafetensorsFile again = io::SafetensorsFile::parse(bytes);
  require(again.metadata() == file.metadata());
  require(again.entries().size() == items.size());
  for (const io::SafetensorsItem& item : items) {
    const io::SafetensorsEntry& entry = again.find(item.name);
    require(entry.dtype == io::info(item.type).dtype && entry.shape == item.shape);
    require(entry.bytes.size() == item.bytes.size());
    require(item.bytes.empty() ||
            std::memcmp(entry.bytes.data(), item.bytes.data(), item.bytes.size()) == 0);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // This copy is aligned like a mapped file and ends where the input ends.
  const std::vector<std::byte> copy(reinterpret_cast<const std::byte*>(data),
                                    reinterpret_cast<const std::byte*>(data) + size);
  for (const bool lenient : {false, true}) {
    try {
      check(io::SafetensorsFile::parse(copy, {.allow_trailing_bytes = lenient}), copy);
    } catch (const Error&) {
    }
  }
  return 0;
}
