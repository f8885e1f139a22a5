// An alignment drawn with plain characters, for a terminal: the source from top to bottom, the
// target from left to right, and between them the darker a cell the more weight. Columns are as
// wide as their words are on a terminal, where Chinese takes two columns a character.
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

struct AlignmentText {
  Tensor weights;                       ///< f32 [T, Tk]: row t says where target t looked.
  std::span<const std::string> source;  ///< Tk words or tokens.
  std::span<const std::string> target;  ///< T words or tokens.
  std::size_t max_width = 80;           ///< Wider ones go on below, in parts.
};

/// Lines of text, without spaces at their ends.
std::string alignment_text(const AlignmentText& alignment);

}  // namespace heed::plot
