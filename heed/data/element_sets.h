// Sets of elements and the positions that a model shall point at, in the format of the files of
// Vinyals et al. (2015): the numbers of all elements, the word "output", and positions counted
// from 1.
//
//   0.1 0.2 0.9 0.4 0.5 0.8 output 1 2 3
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "heed/data/batching.h"
#include "heed/data/epoch_stream.h"
#include "heed/data/line_check.h"
#include "heed/data/token_rows.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// How lines are read.
struct ElementReading {
  std::int64_t features = 2;  ///< Numbers of an element.
  bool each_once = false;     ///< A line that points at an element twice is a bad line.
  OnBad on_bad = OnBad::stop;
};

/// One set of elements.
struct ElementSet {
  std::vector<float> numbers;         ///< [T, F], element by element.
  std::vector<std::int32_t> pointed;  ///< Positions from 1.
  bool has_output = false;            ///< Whether the line says what to point at.
};

/// Reads a line; returns what is wrong with it, if anything is.
std::optional<LineFault> parse_elements(std::string_view line, const ElementReading& reading,
                                        ElementSet& set);
/// The line of a set, with six digits after the point.
std::string elements_line(const ElementSet& set);

/// Many sets with their positions.
struct ElementCorpus {
  std::int64_t features = 2;
  std::vector<float> numbers = {};         ///< Of all elements of all sets.
  std::vector<std::int64_t> starts = {0};  ///< The first element of every set, and the end.
  TokenRows pointed = {};
  BadLines bad = {};

  void add(const ElementSet& set);
  std::int64_t size() const { return pointed.size(); }
  std::int64_t elements(std::int64_t i) const {
    const auto at = static_cast<std::size_t>(i);
    return starts[at + 1] - starts[at];
  }
  std::span<const float> numbers_of(std::int64_t i) const {
    return std::span(numbers).subspan(
        static_cast<std::size_t>(starts[static_cast<std::size_t>(i)] * features),
        static_cast<std::size_t>(elements(i) * features));
  }
};

/// Reads a file, plain or gzip, whose lines all have an output.
ElementCorpus read_elements(const std::filesystem::path& path, const ElementReading& reading);

/// The target of steps after the end, which do not count: cross_entropy's ignore_index.
inline constexpr std::int64_t kNoPosition = -100;

/// Some sets. P is the most positions of a set, and one for the end.
struct ElementBatch {
  Tensor elements;                  ///< f32 [B, T, F], 0 after the end of a set.
  Tensor lengths;                   ///< i64 [B]
  Tensor pointed;                   ///< i64 [B, P]: positions from 1; 0 is the end.
  Tensor expected;                  ///< i64 [B, P]: the same, kNoPosition after the end.
  std::int64_t element_count = 0;   ///< Without padding.
  std::int64_t position_count = 0;  ///< With the ends, without padding.
};

/// Makes a batch of the given sets.
ElementBatch make_batch(const ElementCorpus& corpus, std::span<const std::int32_t> sets);
/// The numbers of elements and of positions of all sets, for plan_epoch.
std::vector<PairLength> lengths_of(const ElementCorpus& corpus);

/// An endless stream of batches.
class ElementStream : public EpochStream<ElementBatch> {
 public:
  ElementStream(std::shared_ptr<const ElementCorpus> corpus, const BatchingOptions& options,
                std::size_t ahead = 4);
};

}  // namespace heed
