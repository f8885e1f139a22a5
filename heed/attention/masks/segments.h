// Several documents in one sequence: a query sees the keys of its own document.
#pragma once

#include "heed/attention/mask.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// Query i sees key j where q_ids[b, i] = k_ids[b, j]; ids [B, Tq] and [B, Tk], i32 or i64. Where
/// the ids of keys never fall along a sequence, other documents cost nothing.
Mask segments(const Tensor& q_ids, const Tensor& k_ids);
/// The same ids [B, T] for queries and keys.
Mask segments(const Tensor& ids);

}  // namespace heed
