// Attention as data: the sizes, the operands and the stages in order. kernels/attention/forward.h
// and backward.h run it tile by tile in f32 and f64; kernels/reference/attention.h runs it in
// double, without tiles.
#pragma once

#include <cstdint>
#include <span>

#include "heed/kernels/attention/tile.h"
#include "heed/kernels/attention/visibility.h"

namespace heed::kernels {

/// Sizes, by the letters used everywhere: queries [B, H, Tq, D], keys [B, G, Tk, D], values
/// [B, G, Tk, Dv]. Packed sequences of different lengths give the rows at which each starts.
struct AttentionShape {
  std::int64_t B = 0, H = 0, G = 0, Tq = 0, Tk = 0, D = 0, Dv = 0;
  const std::int64_t* q_starts =
      nullptr;  ///< B + 1 start rows, or null: all sequences have Tq rows.
  const std::int64_t* k_starts = nullptr;

  std::int64_t group() const { return H / G; }
  std::int64_t queries(std::int64_t b) const {
    return q_starts == nullptr ? Tq : q_starts[b + 1] - q_starts[b];
  }
  std::int64_t keys(std::int64_t b) const {
    return k_starts == nullptr ? Tk : k_starts[b + 1] - k_starts[b];
  }
};

/// One operand: rows of contiguous elements, by strides (in elements) of batch, head and row. With
/// starts, a sequence begins at its start row instead of at a multiple of the batch stride.
template <typename T>
struct Heads {
  T* data = nullptr;
  std::int64_t batch = 0, head = 0, row = 0;
  const std::int64_t* starts = nullptr;

  T* at(std::int64_t b, std::int64_t h, std::int64_t r = 0) const {
    return data + (starts == nullptr ? b * batch : starts[b] * row) + h * head + r * row;
  }
};

/// How scores become weights.
enum class Normalise : std::uint8_t {
  softmax,
  sigmoid,  ///< 1 / (1 + e^-s), each key by itself.
  none,     ///< The scores themselves, 0 where hidden.
  entmax,   ///< Sparse weights that sum to 1 (entmax-inl.h).
};

template <typename T>
struct AttentionProgram {
  AttentionShape shape;
  T scale = 1;  ///< Factor of the dot product.
  bool bf16 =
      false;  ///< Queries, keys and values are bf16 numbers: products may be computed in bf16.
  const T* additive = nullptr;     ///< [D]: scores are sum_d additive[d] tanh(q_d + k_d) instead.
  std::int64_t additive_head = 0;  ///< Stride between heads; 0 if they share.
  std::span<TileStage<T>* const> modifiers;  ///< Change scores, in this order.
  bool only_observers = false;       ///< True if all modifiers are observers, which change nothing.
  const Visibility* mask = nullptr;  ///< Null: every key.
  std::int64_t top_k =
      0;  ///< If positive, a row attends only to the keys of its top_k best scores.
  Normalise normaliser = Normalise::softmax;
  T alpha = 2;               ///< Of entmax, 1 < alpha <= 2.
  const T* sinks = nullptr;  ///< [H]: a score per head that takes weight but has no value.
  std::span<TileStage<T>* const> reweights;  ///< Change weights, in this order.
};

/// The worst key that a row with top_k attends to; of equal scores, the earlier keys win.
template <typename T>
struct RowCut {
  T score = 0;
  std::int32_t key = 0;
};

/// How the scores of a row became weights: 2^((score - base) / ln 2 - reference) * factor. Unlike
/// the log-sum-exp, whose rounding error grows with the scores, it reproduces the weights exactly
/// for scores of any size. For entmax, the reference is the level of the row and the base its
/// highest score.
template <typename T>
struct RowScale {
  T reference = 0;  ///< For softmax, an integer.
  T factor = 0;     ///< 0 if the row has no visible key.
  T base = 0;       ///< For softmax, not 0 only for huge scores; in the unit of the tiles.
};

template <typename T>
struct AttentionForward {
  Heads<const T> q, k, v;
  Heads<T> output;
  Heads<T> log_sum_exp;            ///< Element r of a head is that of row r; data may be null.
  Heads<RowCut<T>> cuts = {};      ///< Likewise, if top_k; data may be null.
  Heads<RowScale<T>> scales = {};  ///< Likewise, for softmax and entmax.
};

template <typename T>
struct AttentionBackward {
  Heads<const T> q, k, v, output, log_sum_exp;  ///< Inputs and results of forward.
  Heads<const T> d_output;
  Heads<const T> d_log_sum_exp;          ///< May be null; contains -dO . O if the output is null.
  Heads<const RowCut<T>> cuts = {};      ///< Results of forward, if top_k.
  Heads<const RowScale<T>> scales = {};  ///< Likewise; if null, computed again.
  Heads<T> dq, dk, dv;                   ///< Overwritten.
  T* d_sinks = nullptr;                  ///< [H], added to; null if there are none.
  T* d_additive = nullptr;  ///< In the layout of `additive`, added to; null if not wanted.
};

}  // namespace heed::kernels
