// Fuzzes the reader of torch.save files, both forms: any bytes are either rejected with a
// heed::Error or read, and then every tensor lies within the bytes and can be copied.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "heed/base/error.h"
#include "heed/io/json.h"
#include "heed/io/tensor_source.h"
#include "heed/tensor/read.h"

namespace {

using namespace heed;

void require(bool condition) {
  if (!condition) std::abort();
}

void check(const io::TorchFile& file, std::span<const std::byte> input) {
  const io::TensorSource source(file);
  for (const io::TensorEntry& entry : source.entries()) {
    require(&source.find(entry.name) == &entry);
    require(entry.bytes.empty() ||
            (entry.bytes.data() >= input.data() &&
             entry.bytes.data() + entry.bytes.size() <= input.data() + input.size()));
    source.tied_to(entry);
    try {
      require(read_tensor(source, entry).numel() == numel(entry.shape));
    } catch (const Error&) {  // a type that heed does not read, or a bool that is none
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::byte> copy(reinterpret_cast<const std::byte*>(data),
                                    reinterpret_cast<const std::byte*>(data) + size);
  try {
    check(io::TorchFile::parse(copy), copy);
  } catch (const Error& error) {
    io::quote_json(error.what());  // throws, and so fails, if the message is not UTF-8
  }
  return 0;
}
