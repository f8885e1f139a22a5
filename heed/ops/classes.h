// Checks the targets of cross entropy and converts them for its kernel; for ops only.
#pragma once

#include "heed/tensor/tensor.h"

namespace heed {

/// Checked targets, in memory that nothing else can change before the backward pass.
struct Classes {
  Tensor targets;            ///< i64 [rows], kernels::kIgnoredTarget where a row does not count.
  std::int64_t counted = 0;  ///< The number of rows that count.
};

/// Converts targets (i64 or i32, of any shape). Throws unless each is a class below `classes` or
/// equals `ignored`.
Classes classes_of(const Tensor& targets, std::int64_t classes, std::int64_t ignored);

}  // namespace heed
