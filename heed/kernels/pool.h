// Pooling of planes by a sliding window: the largest element or the mean. Plain loops over rows,
// which the compiler vectorises if the stride is 1; T is float or double.
#pragma once

#include <cstdint>

#include "heed/kernels/window.h"

namespace heed::kernels {

/// Sizes of pooling.
struct PoolShape {
  std::int64_t planes;
  Window window;  // each window covers at least one input
};

/// y = the largest input of each window, and its index in the plane: the first of equals, or the
/// last NaN if there is one.
template <typename T>
void max_pool(const PoolShape& shape, const T* x, T* y, std::int32_t* chosen);
/// dx = dy summed at the chosen indices; overwritten.
template <typename T>
void max_pool_backward(const PoolShape& shape, const T* dy, const std::int32_t* chosen, T* dx);

/// The divisor of a mean: the size of the window, or the number of its inputs that are not padding.
enum class PoolCount { window, inside };

/// y = the mean of each window.
template <typename T>
void average_pool(const PoolShape& shape, PoolCount count, const T* x, T* y);
/// dx = dy spread over the inputs of each window; overwritten.
template <typename T>
void average_pool_backward(const PoolShape& shape, PoolCount count, const T* dy, T* dx);

}  // namespace heed::kernels
