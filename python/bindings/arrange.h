// Operands of any rank, as PyTorch takes them, for attention's four axes: axes before the last two
// are broadcast against each other, the last of them counts heads, and the rest is the batch.
#pragma once

#include "heed/tensor/tensor.h"

namespace heed::python {

enum class Heads : std::uint8_t {
  broadcast,  ///< As many everywhere, or 1.
  grouped,    ///< Queries have a multiple of those of keys and of values.
};

struct Arranged {
  Tensor q, k, v;  ///< [B, H, Tq, D], [B, G, Tk, D], [B, G, Tk, Dv]
  Shape lead;      ///< The result's axes before the last two.
};

/// By differentiable ops, without a copy where strides allow.
Arranged arrange(const Tensor& q, const Tensor& k, const Tensor& v, Heads heads);

/// What broadcasts to lead + [Tq, Tk], such as a mask, with at most the four axes that stages take.
Tensor arrange_pairs(const Tensor& x, const Shape& lead);

/// A result [B, H, …] with the lead in place of B and H.
Tensor restore(const Tensor& result, const Shape& lead);

}  // namespace heed::python
