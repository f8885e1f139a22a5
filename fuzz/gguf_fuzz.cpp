// Fuzzes the GGUF reader and the dequantisation: any bytes are either rejected with a heed::Error
// or read, and then every tensor lies within the bytes, overlaps no other and can be converted.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "heed/base/error.h"
#include "heed/io/json.h"
#include "heed/io/tensor_source.h"
#include "heed/kernels/dequantize.h"
#include "heed/tensor/read.h"

namespace {

using namespace heed;

void require(bool condition) {
  if (!condition) std::abort();
}

void check(const io::GgufFile& file, std::span<const std::byte> input) {
  for (const io::GgufMember& member : file.metadata().members()) {
    require(file.metadata().find(member.key) != nullptr);
    io::to_string(member.value);
  }
  std::vector<std::span<const std::byte>> ranges;
  const io::TensorSource source(file);
  for (const io::TensorEntry& entry : source.entries()) {
    require(&source.find(entry.name) == &entry);
    require(entry.bytes.empty() ||
            (entry.bytes.data() >= input.data() &&
             entry.bytes.data() + entry.bytes.size() <= input.data() + input.size()));
    require(io::byte_count(entry.shape, entry.type) == entry.bytes.size());
    if (!entry.bytes.empty()) ranges.push_back(entry.bytes);
    if (!io::info(entry.type).dtype && !kernels::can_dequantize(entry.type)) continue;
    require(read_tensor(source, entry).numel() == numel(entry.shape));
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const auto& a, const auto& b) { return a.data() < b.data(); });
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    require(ranges[i - 1].data() + ranges[i - 1].size() <= ranges[i].data());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::byte> copy(reinterpret_cast<const std::byte*>(data),
                                    reinterpret_cast<const std::byte*>(data) + size);
  for (const bool lenient : {false, true}) {
    try {
      check(io::GgufFile::parse(copy, {.allow_trailing_bytes = lenient}), copy);
    } catch (const Error& error) {
      io::quote_json(error.what());  // throws, and so fails, if the message is not UTF-8
    }
  }
  return 0;
}
