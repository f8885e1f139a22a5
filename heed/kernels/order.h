// Order along an axis: index of the extreme element, the k largest, sorting. Among equals the
// lowest index comes first, and NaN counts as larger than every number, so the order is total and
// the result unique. T is float, double, int32, int64 or uint8; comparisons of blocks are plain
// loops that the compiler vectorises.
#pragma once

#include <cstdint>

#include "heed/kernels/lines.h"

namespace heed::kernels {

/// Which extreme to find.
enum class Extreme { maximum, minimum };

/// y = the index of the first extreme element of each line, which must not be empty. A NaN counts
/// as both largest and smallest. Operands: x, y.
template <typename T>
void arg_extreme(Extreme which, const Lines<2>& lines, const T* x, std::int64_t* y);

/// The k largest elements of each line, largest first, and their indices; the lines of the outputs
/// have k elements. Operands: x, values, indices.
template <typename T>
void top_k(const Lines<3>& lines, std::int64_t k, const T* x, T* values, std::int64_t* indices);

/// Each line sorted, and the original indices of its elements. Operands: x, values, indices.
template <typename T>
void sort(const Lines<3>& lines, bool descending, const T* x, T* values, std::int64_t* indices);

}  // namespace heed::kernels
