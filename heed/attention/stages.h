// The stages that a user puts into an AttentionSpec: scores, modifiers of scores and reweights of
// weights. Normalisers are in normaliser.h, masks in masks.h, observers in stages/observers.h, and
// score_mod, a modifier from a function of the user's, in stages/score_mod.h.
//
// b is the sequence in the batch, h the head, i the index of a query, j that of a key. Query i is
// at position i + shift among the keys, where the corner gives the shift (corner.h). Tensors may be
// learned: attention has their gradients.
#pragma once

#include <cstdint>
#include <optional>

#include "heed/attention/corner.h"
#include "heed/attention/score.h"
#include "heed/attention/stage.h"
#include "heed/base/random.h"

namespace heed {

// ---- scores ----

/// q . k (Luong et al. 2015, "dot").
Score dot_score();

/// scale * q . k; the default scale is 1 / sqrt(D) (Vaswani et al. 2017).
Score scaled_dot_score(std::optional<double> scale = {});

/// q^T W k (Luong et al. 2015, "general"): W [D, Dk] or [H, D, Dk], where Dk is the size of keys.
Score general_score(const Tensor& weight);

/// scale * q . k / (|q| |k|).
Score cosine_score(double scale = 1.0);
/// The same with a scale that may be learned: one number, or one for each head [H].
Score cosine_score(const Tensor& scale);

/// sum over d of w[d] tanh(q[d] + k[d]), w [D] or [H, D] (Bahdanau et al. 2015). q and k are
/// already projected, W s and U h in the paper. No Tq x Tk x D numbers are stored.
Score additive_score(const Tensor& weights);

// ---- modifiers: before the weights are normalised ----

/// score += bias[b, h, i, j]. Any of the four axes may be 1, and leading axes may be absent. -inf
/// hides a key, but a mask does so faster.
Modifier dense_bias(const Tensor& bias);

/// score += table[h, i + shift - j + zero]: table [H, length] or [length]; `zero` is the index of
/// distance 0.
Modifier distance_bias(const Tensor& table, std::int64_t zero, Corner corner = Corner::top_left);

/// score -= slopes[h] * |i + shift - j|, slopes [H]: attention with linear biases (Press et al.
/// 2022).
Modifier alibi(const Tensor& slopes, Corner corner = Corner::top_left);

/// The slopes of the paper for H heads, [H]: 2^(-8 h / H) for h = 1 to H. If H is not a power of
/// two, those of the next lower power, then every second one of the next higher power.
Tensor alibi_slopes(std::int64_t H, DType dtype = DType::f32);

struct T5Options {
  bool bidirectional = true;  ///< False in a decoder: all keys after the query share bucket 0.
  std::int64_t max_distance = 128;  ///< From this distance on, all keys share the last bucket.
  Corner corner = Corner::top_left;
};

/// score += table[bucket(j - i - shift), h], table [buckets, H] as in T5's checkpoints (Raffel et
/// al. 2020). Small distances have a bucket each, larger ones share buckets on a log scale.
Modifier t5_bias(const Tensor& table, T5Options options = {});

/// The bucket, out of `buckets`, of a key at `distance` = j - i - shift from the query.
std::int64_t t5_bucket(std::int64_t distance, std::int64_t buckets, const T5Options& options);

/// Relative keys (Shaw et al. 2018): score += scale * q_i . table[clip(j - i - shift, -c, c) + c],
/// table [2c + 1, D] or [H, 2c + 1, D]. The scale is that of the score.
Modifier shaw_keys(const Tensor& table, Corner corner = Corner::top_left);

/// The same on a ring of n positions: score += scale * q_i . table[(j - i - shift) mod n], table
/// [n, D] or [H, n, D]. The last position of a ring is next to its first.
Modifier circular_keys(const Tensor& table, Corner corner = Corner::top_left);

/// score = cap * tanh(score / cap), so that no score exceeds the cap (Gemma 2, 2024).
Modifier soft_cap(double cap);

/// score /= temperature: above 1 it flattens the weights, below 1 it sharpens them.
Modifier temperature(double temperature);
/// The same with a temperature that may be learned: one number, or one for each head [H]. None may
/// be 0.
Modifier temperature(const Tensor& temperature);

/// score += g, g = -log(-log u) with a uniform u for each query and key: Gumbel noise (Jang et al.
/// 2017; Maddison et al. 2017). Softmax of these scores with a temperature is a differentiable
/// sample; the gradient passes unchanged. hard_weights (normaliser.h) with the same stream samples
/// by the same noise.
Modifier gumbel_noise(RandomStream random);

// ---- reweights: after the weights are normalised ----

/// Dropout: each weight is 0 with probability p in [0, 1), otherwise it is divided by 1 - p. The
/// same stream gives the same mask, and nothing is stored for the backward pass; use a new stream
/// for each call, such as default_generator().next(), for independent masks.
Reweight weight_dropout(double p, RandomStream random);
/// The same from the first stream of a seed.
Reweight weight_dropout(double p, std::uint64_t seed);
/// Without a seed p must be 0, and nothing changes.
Reweight weight_dropout(double p);

/// weight *= exp(-(j - centres[b, h, i])^2 / (2 deviation^2)) (Luong et al. 2015, local-p). Rows
/// then sum to less than 1. centres [B, H, Tq], where B and H may be 1; keys are counted from 0.
Reweight gaussian(const Tensor& centres, double deviation);

/// Relative values (Shaw et al. 2018): query i reads value j as
/// v_j + table[clip(j - i - shift, -c, c) + c], table [2c + 1, Dv] or [H, 2c + 1, Dv].
Reweight shaw_values(const Tensor& table, Corner corner = Corner::top_left);
/// The same on a ring of n positions: v_j + table[(j - i - shift) mod n], table [n, Dv] or
/// [H, n, Dv].
Reweight circular_values(const Tensor& table, Corner corner = Corner::top_left);

}  // namespace heed
