// Pooling of planes by a sliding window: the largest element or the mean. Plain loops over rows
// that the compiler vectorises where the stride is 1; T is float or double.
#pragma once

#include <cstdint>

#include "heed/kernels/window.h"

namespace heed::kernels {

struct PoolShape {
  std::int64_t planes;
  Window window;  // each output sees at least one input
};

/// y = the largest input of each window, and where in its plane it was: the first of equals, the
/// last NaN if there is one.
template <typename T>
void max_pool(const PoolShape& shape, const T* x, T* y, std::int32_t* chosen);
/// dx = dy summed at the chosen places; overwritten.
template <typename T>
void max_pool_backward(const PoolShape& shape, const T* dy, const std::int32_t* chosen, T* dx);

/// What a mean divides by: the size of the window, or its inputs that are not padding.
enum class PoolCount { window, inside };

/// y = the mean of each window.
template <typename T>
void average_pool(const PoolShape& shape, PoolCount count, const T* x, T* y);
/// dx = dy spread over the inputs of each window; overwritten.
template <typename T>
void average_pool_backward(const PoolShape& shape, PoolCount count, const T* dy, T* dx);

}  // namespace heed::kernels
