// Digits that heed draws itself: strokes in a unit square, bent, turned, thickened and spoilt by
// noise. An endless supply of labelled pictures without a file to download.
#pragma once

#include <cstdint>
#include <string>

#include "heed/base/random.h"
#include "heed/tensor/tensor.h"

namespace heed::cli {

inline constexpr std::int64_t kDigitSide = 20;  // pixels

struct DigitBatch {
  Tensor pictures;  // [B, 1, side, side], 0 is paper, 1 is ink
  Tensor labels;    // i64 [B]
};

/// Pictures number first, first + 1, … of the stream; the same number is the same picture.
DigitBatch draw_digits(RandomStream stream, std::int64_t first, std::int64_t count);

/// Pictures side by side for a terminal, two pixel rows a line, `indent` spaces before each.
std::string show_digits(const Tensor& pictures, std::int64_t first, std::int64_t count, int indent);

}  // namespace heed::cli
