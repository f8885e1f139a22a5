// The memory of a neural Turing machine (Graves, Wayne and Danihelka 2014): N slots of M numbers,
// and heads that find slots by content and by place, read them, and write to them. A head's weights
// over slots are
//   content_i = softmax_i(beta cos(key, slot_i)),  w = gate * content + (1 - gate) * before,
//   w = circular convolution of w with `shift`,    result_i = w_i^gamma / sum_j w_j^gamma
// Plain functions without parameters; ntm.h is the layer.
#pragma once

#include <cstdint>

#include "heed/tensor/tensor.h"

namespace heed::ntm {

/// Where heads want to go: R of them, each a row.
struct Address {
  Tensor key;    ///< [B, R, M].
  Tensor beta;   ///< [B, R, 1], positive: how sharply content decides.
  Tensor gate;   ///< [B, R, 1], 0 to 1: content, or the place before.
  Tensor shift;  ///< [B, R, 2 S + 1], sums to 1: by how many slots to move, -S to S.
  Tensor gamma;  ///< [B, R, 1], at least 1: how much to sharpen in the end.
};

/// Numbers that make an address: M + 2 S + 4.
inline std::int64_t address_size(std::int64_t M, std::int64_t S) { return M + 2 * S + 4; }
/// An address from any numbers [B, R, M + 2 S + 4]: beta by softplus, gate by sigmoid, shift by
/// softmax, gamma by 1 + softplus.
Address make_address(const Tensor& raw, std::int64_t M);

/// By content: softmax of beta times the cosine of key and slot, [B, R, N]. A zero vector is like
/// none.
Tensor content_weights(const Tensor& memory, const Tensor& key, const Tensor& beta);
/// gate * content + (1 - gate) * before.
Tensor interpolate(const Tensor& content, const Tensor& before, const Tensor& gate);
/// The weights [B, R, N] moved in a circle: by d slots with share shift[d + S] for d from -S to S.
Tensor shift(const Tensor& weights, const Tensor& shift);
/// w^gamma, divided by the sum over slots; computed by logarithms, so that no power underflows.
Tensor sharpen(const Tensor& weights, const Tensor& gamma);
/// All four, from the memory [B, N, M] and the weights before [B, R, N].
Tensor address(const Tensor& memory, const Tensor& before, const Address& to);

/// What heads of weights [B, R, N] read: [B, R, M].
Tensor read(const Tensor& memory, const Tensor& weights);
/// What W heads write.
struct Writing {
  Tensor weights;  ///< [B, W, N].
  Tensor erase;    ///< [B, W, M], 0 to 1.
  Tensor add;      ///< [B, W, M].
};
/// The memory [B, N, M] times 1 - weights erase^T of every head, then plus weights add^T of all.
Tensor write(const Tensor& memory, const Writing& what);

}  // namespace heed::ntm
