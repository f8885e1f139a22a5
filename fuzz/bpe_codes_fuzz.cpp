// Fuzzes the reader of BPE codes: any text is either rejected with a heed::Error, or its merges
// split any word into parts whose concatenation is the word, with and without undoing merges.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "heed/io/json.h"
#include "heed/text/bpe_codes.h"

namespace {

using namespace heed;

void require(bool condition) {
  if (!condition) std::abort();
}

void check_parts(const std::vector<std::string_view>& parts, std::string_view word) {
  std::string joined;
  for (const std::string_view part : parts) joined += part;
  require(joined == word);
}

void check(std::string_view text) {
  const BpeCodes codes = BpeCodes::parse(text, "codes");
  require(codes.size() > 0);
  // The text itself is the best source of words that contain its merges.
  for (std::size_t begin = 0; begin < text.size(); begin += 7) {
    const std::string_view word = text.substr(begin, 11);
    check_parts(codes.segment(word), word);
    for (const bool rare : {false, true}) {
      const auto allowed = [&](std::string_view part, bool) { return rare && part.size() < 3; };
      check_parts(codes.segment(word, allowed), word);
    }
  }
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
