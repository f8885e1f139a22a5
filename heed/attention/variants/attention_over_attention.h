// Attention over attention (Cui et al. 2017, Attention-over-Attention Neural Networks for Reading
// Comprehension): finds the words of a document that answer a query. It starts from the matrix of
// dot products of document words i and query words j, M_ij = h_i . q_j:
//
//   alpha_j = softmax_i(M_ij)                weights of the document words for query word j
//   beta    = mean_i(softmax_j(M_ij))        weights of the query words
//   s_i     = sum_j alpha_ij beta_j          resulting weights of the document words
//
// It has no parameters: h and q are the outputs of encoders.
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
  /// The same for queries of different lengths, i64 [B].
  Tensor operator()(const AttentionInput& in, const Tensor& query_lengths) const;

 private:
  Tensor terms(const AttentionInput& in, const Tensor& query_lengths) const;

  Config config_;
};

/// The score of each candidate word: the sum of the weights [B, Tk] over all its occurrences in the
/// document. ids i64 [B, Tk], candidates i64 [B, C] -> [B, C].
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
