// Scores: dot products of queries and keys, plain, scaled, through a matrix, or of their
// directions; and additive ones.
#pragma once

#include <optional>

#include "heed/attention/score.h"

namespace heed {

/// q . k (Luong et al. 2015, "dot").
Score dot_score();
/// scale * q . k; without a scale, 1 / sqrt(D) (Vaswani et al. 2017).
Score scaled_dot_score(std::optional<double> scale = {});
/// q^T W k (Luong et al. 2015, "general"): W [D, Dk] or [H, D, Dk], where Dk is the size of keys.
Score general_score(const Tensor& weight);
/// scale * q . k / (|q| |k|).
Score cosine_score(double scale = 1.0);
/// The same with a scale that may be learned, one number or one for each head [H].
Score cosine_score(const Tensor& scale);

/// sum over d of w[d] tanh(q[d] + k[d]), w [D] or [H, D] (Bahdanau et al. 2015): q and k are the
/// projected ones, W s and U h in the paper. No n x m x d numbers are stored for it.
Score additive_score(const Tensor& weights);

}  // namespace heed
