// Comparison and selection over strided operands: plain loops that the compiler vectorises, for
// every element type, so there is no SIMD version and no twin.
#pragma once

#include <cstdint>

#include "heed/kernels/nest.h"

namespace heed::kernels {

#define HEED_COMPARISONS(X) \
  X(equal, ==) X(not_equal, !=) X(less, <) X(less_equal, <=) X(greater, >) X(greater_equal, >=)

/// A comparison.
enum class Compare : std::uint8_t {
#define HEED_X(name, symbol) name,
  HEED_COMPARISONS(HEED_X)
#undef HEED_X
};

/// y = op(a, b) as booleans, for all element types but bf16. Operands: a, b, y.
template <typename T>
void compare(Compare op, const Nest<3>& nest, const T* a, const T* b, bool* y);

/// y = condition ? a : b, for all element types. Operands: condition, a, b, y.
template <typename T>
void select(const Nest<4>& nest, const bool* condition, const T* a, const T* b, T* y);

}  // namespace heed::kernels
