// A comparison of layers that takes a moment.
#pragma once

#include <string>

#include "heed/study/comparison.h"

namespace heed::plot::test {

inline const Comparison& small_comparison() {
  static const Comparison comparison =
      compare_layers({.lengths = {8, 16, 32}, .sizes = {4, 8}, .path_lengths = {4, 8}, .runs = 1},
                     [](std::int64_t, std::int64_t, const std::string&) {});
  return comparison;
}

}  // namespace heed::plot::test
