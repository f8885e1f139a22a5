// Compares a gradient from the tape with central differences, in double.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "heed/tensor/tensor.h"

namespace heed {

/// Options of gradcheck.
struct GradCheckOptions {
  double step = 1e-5;       // of the central difference
  double tolerance = 1e-6;  // relative to max(1, |gradient|)
  std::int64_t every = 1;   // checks one element in so many of each input
};

/// The largest error, and a message that names its element.
struct GradCheckResult {
  bool ok = true;
  double worst = 0.0;
  std::string message;
};

/// Checks d(sum of w * f(inputs)) / d(inputs) for fixed pseudo-random weights w. Inputs must be
/// f64; those that require a gradient are checked, element by element.
GradCheckResult gradcheck(const std::function<Tensor(std::span<const Tensor>)>& f,
                          std::span<const Tensor> inputs, GradCheckOptions options = {});

}  // namespace heed
