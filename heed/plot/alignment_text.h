// An alignment drawn with characters, for a terminal: the source from top to bottom, the target
// from left to right; darker cells have more weight. Columns are as wide as their words on a
// terminal, where a Chinese character takes two columns.
//
//            我   喜欢  猫
//   I        ███
//   like          ████
//   cats                ██
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "heed/tensor/tensor.h"

namespace heed::plot {

/// An alignment and its words.
struct AlignmentText {
  Tensor weights;                       ///< f32 [T, Tk]: row t holds the weights of target token t.
  std::span<const std::string> source;  ///< Tk words or tokens.
  std::span<const std::string> target;  ///< T words or tokens.
  std::size_t max_width = 80;           ///< Wider drawings continue below, in parts.
};

/// Draws the alignment; lines have no trailing spaces.
std::string alignment_text(const AlignmentText& alignment);

}  // namespace heed::plot
