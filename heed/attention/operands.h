// The operands of attention: checks of q, k, v and of packed lengths, and their form for the
// kernels.
#pragma once

#include "heed/attention/spec.h"
#include "heed/kernels/attention/program.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// Throws heed::Error unless q [B, H, Tq, D], k [B, G, Tk, Dk] and v [B, G, Tk, Dv] fit together;
/// the score checks D and Dk. Returns the sizes, with D from q.
kernels::AttentionShape check_operands(const Tensor& q, const Tensor& k, const Tensor& v);

/// The same for q [total, H, D], k [total, G, Dk] and v [total, G, Dv]. The sizes refer to
/// `lengths`.
kernels::AttentionShape check_packed_operands(const Tensor& q, const Tensor& k, const Tensor& v,
                                              const PackedLengths& lengths);

/// A tensor [B, heads, T, features] with contiguous rows, or [B, heads, T], in the form that the
/// kernels take.
template <typename T>
kernels::Heads<const T> heads_of(const Tensor& x, const std::int64_t* starts = nullptr) {
  return {x.data<T>(), x.strides()[0], x.strides()[1], x.strides()[2], starts};
}
template <typename T>
kernels::Heads<T> mutable_heads_of(Tensor& x, const std::int64_t* starts = nullptr) {
  return {x.mutable_data<T>(), x.strides()[0], x.strides()[1], x.strides()[2], starts};
}

}  // namespace heed
