// Local attention with predicted alignment, local-p (Luong et al. 2015): each query predicts a
// centre p = S sigmoid(v^T tanh(W x)) and attends to the positions within D of it. After the
// softmax a Gaussian around p reduces the weights of distant positions:
//   weight[j] = softmax_j(score(x, h[j])) exp(-(j - p)^2 / (2 sigma^2)), sigma = D / 2.
// The gradient reaches p through the Gaussian; the edges of the window have none.
#pragma once

#include "heed/attention/variants/global.h"

namespace heed {

struct LocalPConfig {
  GlobalConfig global = {};
  double window = 10.0;    // D
  double deviation = 0.0;  // sigma; 0: D / 2

  void fields(io::Fields& field);
  void validate() const;
};

/// Parameters are those of GlobalAttention, and "place_hidden" (W) and "place" (v). S is the length
/// of the sequence or, if causal, the number of positions up to the query's own; positions count
/// from 0.
class LocalPAttention : public GlobalAttention {
 public:
  using Config = LocalPConfig;
  explicit LocalPAttention(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  /// The predicted centre p of each query, [B, Tq].
  Tensor places(const AttentionInput& in) const;

  Linear place_hidden, place;

 protected:
  void specialise(AttentionSpec& spec, const AttentionInput& in, const Place& place) const override;
  std::string_view name() const override { return "local_p"; }

 private:
  Tensor places(const AttentionInput& in, const Place& at) const;

  double window_, deviation_;
};

inline constexpr Mechanism kLocalP = mechanism<LocalPAttention>(
    "local_p",
    {.title = "Local attention, predicted",
     .formula =
         "sum_j softmax_j(score(x_t, h_j)) exp(-(j - p_t)^2 / (D^2 / 2)) h_j over |j - p_t| <= "
         "D, p_t = S sigmoid(v^T tanh(W_p x_t))",
     .paper = "Luong et al. 2015, Effective Approaches to Attention-based Neural Machine "
              "Translation",
     .cost = "n D d + n d^2 where neighbours look near one another, else n^2 d",
     .composes = kWithMasks,
     .sample = "window=3"},
    {.decodes = true, .plain_values = true});

}  // namespace heed
