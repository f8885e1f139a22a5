#include "heed/attention/variants/ntm_memory.h"

#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/index.h"
#include "heed/ops/join.h"
#include "heed/ops/matmul.h"
#include "heed/ops/reduce.h"
#include "heed/ops/softmax.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"

namespace heed::ntm {
namespace {

// Added to a squared length: vectors much shorter than 1e-3 are treated like zero, and their
// gradients do not exceed 1e3.
constexpr double kLeastSquare = 1e-6;
// Added to a weight before its logarithm: far below the precision of f32 near 1.
constexpr double kLeastWeight = 1e-16;

// [B, T, M] -> [B, T]
Tensor inverse_lengths(const Tensor& x) { return rsqrt(sum(square(x), {-1}) + kLeastSquare); }

Tensor direction(const Tensor& x) { return x * unsqueeze(inverse_lengths(x), 2); }

// For slot i and move d, -S to S, the slot that moves to i: (i - d) mod N, [N (2 S + 1)].
Tensor sources(std::int64_t N, std::int64_t moves) {
  Tensor ids = empty({N * moves}, DType::i64);  // [N (2 S + 1)]
  const std::int64_t S = moves / 2;
  for (std::int64_t i = 0; i < N; ++i) {
    for (std::int64_t d = -S; d <= S; ++d) {
      ids.mutable_data<std::int64_t>()[i * moves + d + S] = (((i - d) % N) + N) % N;
    }
  }
  return ids;
}

}  // namespace

Address make_address(const Tensor& raw, std::int64_t M) {
  const std::int64_t moves = raw.size(2) - M - 3;
  HEED_ASSERT(moves >= 1 && moves % 2 == 1);
  const std::vector<Tensor> parts = split(raw, {M, 1, 1, moves, 1}, -1);
  return {.key = parts[0],
          .beta = softplus(parts[1]),
          .gate = sigmoid(parts[2]),
          .shift = softmax(parts[3]),
          .gamma = softplus(parts[4]) + 1.0};
}

Tensor content_weights(const Tensor& memory, const Tensor& key, const Tensor& beta) {
  // Scores are divided by the lengths of slots, because slots are M times as many numbers.
  const Tensor products = matmul(direction(key), transpose(memory));  // [B, R, N]
  const Tensor inverse = inverse_lengths(memory);                     // [B, N]
  return softmax(beta * (products * unsqueeze(inverse, 1)));          // [B, R, N]
}

Tensor interpolate(const Tensor& content, const Tensor& before, const Tensor& gate) {
  return gate * content + (1.0 - gate) * before;  // [B, R, N]
}

Tensor shift(const Tensor& weights, const Tensor& shift) {
  const std::int64_t B = weights.size(0), R = weights.size(1), N = weights.size(2);
  const std::int64_t moves = shift.size(2);
  HEED_CHECK(moves % 2 == 1,
             "[ntm] {} shares of shifts: there must be an odd number, one for each of -S to S",
             moves);
  const Tensor moved = index_select(weights, 2, sources(N, moves));  // [B, R, N (2 S + 1)]
  const Tensor each = reshape(moved, {B, R, N, moves});              // [B, R, N, 2 S + 1]
  return squeeze(matmul(each, unsqueeze(shift, 3)), 3);              // [B, R, N]
}

Tensor sharpen(const Tensor& weights, const Tensor& gamma) {
  return softmax(gamma * log(weights + kLeastWeight));  // [B, R, N]
}

Tensor address(const Tensor& memory, const Tensor& before, const Address& to) {
  const Tensor content = content_weights(memory, to.key, to.beta);              // [B, R, N]
  const Tensor moved = shift(interpolate(content, before, to.gate), to.shift);  // [B, R, N]
  return sharpen(moved, to.gamma);                                              // [B, R, N]
}

Tensor read(const Tensor& memory, const Tensor& weights) {
  return matmul(weights, memory);  // [B, R, M]
}

Tensor write(const Tensor& memory, const Writing& what) {
  Tensor kept = memory;  // [B, N, M]
  for (std::int64_t head = 0; head < what.weights.size(1); ++head) {
    const Tensor w = unsqueeze(select(what.weights, 1, head), 2);  // [B, N, 1]
    const Tensor erase = slice(what.erase, 1, head, head + 1);     // [B, 1, M]
    kept = kept * (1.0 - w * erase);
  }
  return kept + matmul(transpose(what.weights), what.add);  // [B, N, M]
}

}  // namespace heed::ntm
