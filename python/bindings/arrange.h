// Arranges operands of any rank, as in PyTorch, into attention's four axes: the axes before the
// last two are broadcast against each other, the last of them is the heads, and the others are the
// batch.
#pragma once

#include "heed/tensor/tensor.h"

namespace heed::python {

enum class Heads : std::uint8_t {
  broadcast,  ///< The same number everywhere, or 1.
  grouped,    ///< The number for queries is a multiple of the number for keys and values.
};

struct Arranged {
  Tensor q, k, v;  ///< [B, H, Tq, D], [B, G, Tk, D], [B, G, Tk, Dv]
  Shape lead;      ///< The result's axes before the last two.
};

/// By differentiable ops, without a copy where strides allow.
Arranged arrange(const Tensor& q, const Tensor& k, const Tensor& v, Heads heads);

/// Arranges a tensor that broadcasts to lead + [Tq, Tk], such as a mask, into at most the four axes
/// that stages take.
Tensor arrange_pairs(const Tensor& x, const Shape& lead);

/// A result [B, H, …] with `lead` in place of B and H.
Tensor restore(const Tensor& result, const Shape& lead);

}  // namespace heed::python
