// The checks of q, k and v, and of packed lengths.
#pragma once

#include "heed/attention/spec.h"
#include "heed/kernels/attention/program.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// Throws heed::Error unless q [B, H, Tq, D], k [B, G, Tk, Dk] and v [B, G, Tk, Dv] fit together;
/// whether D and Dk do is the score's affair. Returns the sizes, D that of q.
kernels::AttentionShape check_operands(const Tensor& q, const Tensor& k, const Tensor& v);

/// The same for q [total, H, D], k [total, G, Dk] and v [total, G, Dv]. The sizes refer to
/// `lengths`.
kernels::AttentionShape check_packed_operands(const Tensor& q, const Tensor& k, const Tensor& v,
                                              const PackedLengths& lengths);

}  // namespace heed
