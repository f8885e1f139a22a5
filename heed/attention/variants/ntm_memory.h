// The memory of a neural Turing machine (Graves, Wayne and Danihelka 2014): N slots of M numbers,
// and heads that find slots by content and by place, read them and write to them. The weights of a
// head over the slots are
//   content_i = softmax_i(beta cos(key, slot_i)),  w = gate * content + (1 - gate) * before,
//   w = circular convolution of w with `shift`,    result_i = w_i^gamma / sum_j w_j^gamma
// These are functions without parameters; ntm.h is the layer.
#pragma once

#include <cstdint>

#include "heed/tensor/tensor.h"

namespace heed::ntm {

/// The addresses of R heads, one row each.
struct Address {
  Tensor key;    ///< [B, R, M].
  Tensor beta;   ///< [B, R, 1], positive: sharpness of the weights by content.
  Tensor gate;   ///< [B, R, 1], 0 to 1: share of content; the rest is the weights before.
  Tensor shift;  ///< [B, R, 2 S + 1], sums to 1: shares of the moves by -S to S slots.
  Tensor gamma;  ///< [B, R, 1], at least 1: final sharpening.
};

/// The numbers of one address: M + 2 S + 4.
inline std::int64_t address_size(std::int64_t M, std::int64_t S) { return M + 2 * S + 4; }
/// An address from any numbers [B, R, M + 2 S + 4]: beta by softplus, gate by sigmoid, shift by
/// softmax, gamma by 1 + softplus.
Address make_address(const Tensor& raw, std::int64_t M);

/// Weights by content: softmax of beta times the cosine of key and slot, [B, R, N]. The cosine with
/// a zero vector is 0.
Tensor content_weights(const Tensor& memory, const Tensor& key, const Tensor& beta);
/// gate * content + (1 - gate) * before.
Tensor interpolate(const Tensor& content, const Tensor& before, const Tensor& gate);
/// The weights [B, R, N] shifted in a circle: by d slots with share shift[d + S] for d from -S to
/// S.
Tensor shift(const Tensor& weights, const Tensor& shift);
/// w^gamma, divided by its sum over slots; computed by logarithms, so that no power underflows.
Tensor sharpen(const Tensor& weights, const Tensor& gamma);
/// All four steps, from the memory [B, N, M] and the weights before [B, R, N].
Tensor address(const Tensor& memory, const Tensor& before, const Address& to);

/// The result of reading with weights [B, R, N]: [B, R, M].
Tensor read(const Tensor& memory, const Tensor& weights);
/// The writes of W heads.
struct Writing {
  Tensor weights;  ///< [B, W, N].
  Tensor erase;    ///< [B, W, M], 0 to 1.
  Tensor add;      ///< [B, W, M].
};
/// The memory [B, N, M] times 1 - weights erase^T of every head, then plus weights add^T of all.
Tensor write(const Tensor& memory, const Writing& what);

}  // namespace heed::ntm
