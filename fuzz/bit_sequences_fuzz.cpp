// Lines of sequences of bits: whatever they hold, they are read or refused, and what was read is
// written and read again as the same.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "heed/data/bit_sequences.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  heed::BitSequence sequence, again;
  if (heed::parse_bits(line, {}, sequence)) return 0;
  if (heed::parse_bits(heed::bits_line(sequence), {}, again) || again.input != sequence.input ||
      again.output != sequence.output || again.has_output != sequence.has_output) {
    std::abort();
  }
  return 0;
}
