// Attention over attention (Cui et al. 2017, Attention-over-Attention Neural Networks for Reading
// Comprehension): which words of a document answer a query, from the matrix of matches of document
// words i and query words j, M_ij = h_i . q_j:
//
//   alpha_j = softmax_i(M_ij)                what of the document each query word looks at
//   beta    = mean_i(softmax_j(M_ij))        how much each query word counts
//   s_i     = sum_j alpha_ij beta_j          what of the document is looked at
//
// It has no parameters: h and q are states of encoders.
#pragma once

#include "heed/attention/mechanism.h"

namespace heed {

struct AttentionOverAttentionConfig {
  std::int64_t embed = 64;

  void fields(io::Fields& field);
};

/// x is the query [B, Tq, E], memory the document [B, Tk, E] with its lengths.
class AttentionOverAttention : public AttentionLayer {
 public:
  using Config = AttentionOverAttentionConfig;
  explicit AttentionOverAttention(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor&) override {}
  /// s [B, Tk], which sums to 1.
  Tensor operator()(const AttentionInput& in) const override;
  /// The same for queries of which only the first words are there: i64 [B].
  Tensor operator()(const AttentionInput& in, const Tensor& query_lengths) const;

 private:
  Tensor terms(const AttentionInput& in, const Tensor& query_lengths) const;

  Config config_;
};

/// The score of each candidate word, which is the sum of the weights [B, Tk] of all places where it
/// stands in the document: ids i64 [B, Tk], candidates i64 [B, C] -> [B, C].
Tensor candidate_scores(const Tensor& weights, const Tensor& document_ids,
                        const Tensor& candidates);

inline constexpr Mechanism kAttentionOverAttention = mechanism<AttentionOverAttention>(
    "attention_over_attention",
    {.title = "Attention over attention",
     .formula =
         "s = alpha beta, alpha = softmax_doc(M), beta = mean_doc(softmax_query(M)), M = H Q^T",
     .paper = "Cui et al. 2017, Attention-over-Attention Neural Networks for Reading Comprehension",
     .cost = "n m d",
     .composes = "lengths of document and query, all masks, sums over candidate words"},
    {.form = Form::reader, .self = false, .causal = false, .fused = false});

}  // namespace heed
