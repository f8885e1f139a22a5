// Attention of all rounds of hashing as one op: one softmax over the keys that the rounds find.
//
//   y_i = sum over rounds r and keys j of e^(s_ij - L_i) v_j,  L_i = log of the sum of all e^(s_ij)
//
// Sorted copies of queries, keys and values exist while some heads are computed, in the forward and
// in the backward pass. With the sums of all rounds, the gradient of a score needs no result of a
// single round: ds_ij = e^(s_ij - L_i) (dy_i . v_j - dy_i . y_i).
#pragma once

#include "heed/attention/stage.h"
#include "heed/attention/variants/lsh_order.h"
#include "heed/base/arena_vector.h"

namespace heed {

struct LshRounds {
  LshOrder order;       ///< [B, rounds, H, T], with LshReach::bucket or LshReach::chunk.
  Tensor lengths = {};  ///< i64 [B], or undefined.
  bool causal = false;
  bool unique = false;             ///< As of lsh_scores().
  std::int64_t heads_at_once = 0;  ///< 0: all.
  /// None, or one for each group of heads: changes of the weights, such as dropout.
  ArenaVector<Reweight> reweights = {};
  Tensor* weights = nullptr;  ///< If not null, the weights [B, H, T, T] are written to it.

  std::int64_t heads() const { return order.order.size(2); }
  std::int64_t group() const { return heads_at_once == 0 ? heads() : heads_at_once; }
  std::int64_t groups() const { return (heads() + group() - 1) / group(); }
};

/// q, k and v [B, T, H, D] -> [B, T, H, D]. A position that has no other visible key gets its own
/// value; positions beyond the lengths get 0.
Tensor attend_in_rounds(const Tensor& q, const Tensor& k, const Tensor& v, const LshRounds& by);

}  // namespace heed
