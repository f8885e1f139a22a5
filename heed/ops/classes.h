// The targets of cross entropy, checked and fit for its kernel; for ops only.
#pragma once

#include "heed/tensor/tensor.h"

namespace heed {

/// In memory that nobody else can change before the backward pass.
struct Classes {
  Tensor targets;            ///< i64 [rows], kernels::kIgnoredTarget where a row does not count.
  std::int64_t counted = 0;  ///< Rows that do.
};

/// Targets (i64 or i32, of any shape), each a class below `classes` or `ignored`; else throws.
Classes classes_of(const Tensor& targets, std::int64_t classes, std::int64_t ignored);

}  // namespace heed
