// Fuzzes the reading of plain and gzip text: any bytes are either rejected with a heed::Error or
// read, the same whether in small pieces, as a whole or by lines.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/memory_file.h"
#include "heed/base/error.h"
#include "heed/io/input.h"
#include "heed/io/lines.h"

namespace {

using namespace heed;
using fuzz::require;

// Gzip turns a few bytes into many; more than this is refused.
constexpr std::size_t kMaxBytes = 1 << 20;

std::string in_pieces(const std::string& path) {
  io::Input input(path);
  std::array<char, 7> piece{};
  std::string text;
  while (const std::size_t n = input.read(piece)) {
    text.append(piece.data(), n);
    HEED_CHECK(text.size() <= kMaxBytes, "too large");
  }
  return text;
}

void check(const std::string& path) {
  const std::string text = in_pieces(path);
  require(io::read_input(path, kMaxBytes) == text);
  io::LineReader reader(path);
  std::string line;
  std::size_t bytes = 0;
  while (reader.next(line)) {
    require(line.find('\n') == line.npos);
    bytes += line.size() + 1;
  }
  require(bytes <= text.size() + 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::MemoryFile file({reinterpret_cast<const char*>(data), size});
  try {
    check(file.path());
  } catch (const Error&) {
  }
  return 0;
}
