// Sequences of vectors of bits for algorithmic tasks (Graves et al. 2014): what a model reads, the
// word "output", and what it shall write afterwards.
//
//   1010 0111 0001 output 101 011
//
// A model reads a vector in each step. While it writes, it reads vectors of 0.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/data/batching.h"
#include "heed/data/epoch_stream.h"
#include "heed/data/line_check.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// Bits of the vectors; 0: those of the first line decide.
struct BitWidths {
  std::int64_t input = 0, output = 0;
  friend bool operator==(const BitWidths&, const BitWidths&) = default;
};

/// One sequence.
struct BitSequence {
  std::vector<std::string> input, output;  ///< Words of '0' and '1'.
  bool has_output = false;
};

/// Reads a line; returns what is wrong with it, if anything is.
std::optional<LineFault> parse_bits(std::string_view line, const BitWidths& widths,
                                    BitSequence& sequence);
/// The line of a sequence.
std::string bits_line(const BitSequence& sequence);

/// Many sequences with their outputs.
struct BitCorpus {
  BitWidths widths = {};
  std::vector<BitSequence> sequences = {};
  BadLines bad = {};
  std::int64_t size() const { return std::ssize(sequences); }
};

/// Reads a file, plain or gzip, whose lines all have an output.
BitCorpus read_bits(const std::filesystem::path& path, const BitWidths& widths = {},
                    OnBad on_bad = OnBad::stop);

/// Some sequences, padded at their ends. T is the number of steps of the longest.
struct BitBatch {
  Tensor input;            ///< f32 [B, T, I].
  Tensor output;           ///< f32 [B, T, O]: the bits to write, in the steps in which they are.
  Tensor counts;           ///< f32 [B, T, 1]: 1 in these steps, else 0.
  std::int64_t steps = 0;  ///< Read and written, without padding.
  std::int64_t bits = 0;   ///< To write.
};

/// Makes a batch. Sequences without output write `length` vectors.
BitBatch make_batch(std::span<const BitSequence* const> sequences, const BitWidths& widths,
                    std::int64_t length = 0);
BitBatch make_batch(const BitCorpus& corpus, std::span<const std::int32_t> sequences);
/// The numbers of steps of all sequences, for plan_epoch.
std::vector<PairLength> lengths_of(const BitCorpus& corpus);

/// An endless stream of batches.
class BitStream : public EpochStream<BitBatch> {
 public:
  BitStream(std::shared_ptr<const BitCorpus> corpus, const BatchingOptions& options,
            std::size_t ahead = 4);
};

}  // namespace heed
