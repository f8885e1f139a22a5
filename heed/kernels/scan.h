// Cumulative sums along an axis. Floats are summed in double, so a long line loses no accuracy.
#pragma once

#include "heed/kernels/lines.h"

namespace heed::kernels {

/// The direction of a scan.
enum class Direction { forward, backward };

/// y[k] = x[0] + … + x[k] along every line, or x[k] + … + x[n - 1] backward; T is float, double,
/// int32 or int64. Operands: x, y.
template <typename T>
void cumulative_sum(const Lines<2>& lines, Direction direction, const T* x, T* y);

}  // namespace heed::kernels
