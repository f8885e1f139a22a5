// Fuzzes the reading of Pharaoh alignments: a line is refused with a heed::Error, or read into
// links that are written and read again as they are.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "heed/base/error.h"
#include "heed/generation/alignment.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const heed::Alignment links = heed::parse_pharaoh({reinterpret_cast<const char*>(data), size});
    if (heed::parse_pharaoh(heed::to_pharaoh(links)) != links) std::abort();
    for (const heed::AlignmentLink& link : links) {
      if (link.source < 0 || link.target < 0) std::abort();
    }
  } catch (const heed::Error&) {
  }
  return 0;
}
