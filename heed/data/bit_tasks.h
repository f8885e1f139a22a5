// The algorithmic tasks of Graves et al. (2014) as sequences of bits. The last bits of a vector
// that is read are marks.
//   copy:    random vectors, then a mark; they shall be written.
//   repeat:  the same, but the vector with the mark has the number of repetitions in its other
//            bits, the lowest first; they shall be written so many times, then a mark.
//   recall:  items of three vectors, each after a vector with the first mark; then, between vectors
//            with the second mark, one of them again, but not the last. The item that followed it
//            shall be written.
#pragma once

#include <array>
#include <cstdint>

#include "heed/data/bit_sequences.h"
#include "heed/io/codec.h"

namespace heed {

enum class BitTask : std::uint8_t { copy, repeat, recall };

/// The names that the program uses.
constexpr std::array<io::EnumName<BitTask>, 3> enum_names(BitTask) {
  return {{{BitTask::copy, "copy"}, {BitTask::repeat, "repeat"}, {BitTask::recall, "recall"}}};
}

struct BitTaskOptions {
  BitTask task = BitTask::copy;
  std::int64_t bits = 8;                         // of a vector, without marks
  std::int64_t min_length = 1, max_length = 20;  // vectors; recall: items, at least 2
  std::int64_t max_repeats = 10;                 // of repeat
  std::uint64_t seed = 1;
};

/// Makes one sequence, which depends only on options and number.
BitSequence make_bit_sequence(const BitTaskOptions& options, std::int64_t number);

}  // namespace heed
