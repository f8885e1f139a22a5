// Decomposable attention (Parikh et al. 2016, A Decomposable Attention Model for Natural Language
// Inference), for two texts a and b:
//
//   attend:     b_i' = sum_j softmax_j(F(a_i) . F(b_j)) b_j
//   compare:    v_i = G([a_i; b_i'])
//   aggregate:  v = sum_i v_i
//
// F and G are networks of two ReLU layers. Attend and compare are the layer, with a as x and b as
// the memory; compare_texts() also does the other direction and aggregates both, for classifiers of
// pairs.
#pragma once

#include "heed/attention/variants/global.h"
#include "heed/nn/dropout.h"

namespace heed {

struct DecomposableConfig {
  std::int64_t embed = 64;
  std::int64_t memory_embed = 0;  // 0 or embed: F reads both texts
  std::int64_t hidden = 0;        // of F and G; 0: as embed
  double dropout = 0.0;           // of the inputs of F's and G's layers

  void fields(io::Fields& field);
  void validate() const;
};

/// A text of a batch: states [B, T, E] and lengths i64 [B], or all of T.
struct ComparedText {
  Tensor states;
  Tensor lengths = {};
};

/// Parameters "attend_in", "attend_out" (F), "compare_in", "compare_out" (G).
class DecomposableAttention : public GlobalAttention {
 public:
  using Config = DecomposableConfig;
  explicit DecomposableAttention(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  /// [v_a; v_b] of two texts: [B, 2 E].
  Tensor compare_texts(const ComparedText& a, const ComparedText& b) const;

  Linear attend_in, attend_out;    // F
  Linear compare_in, compare_out;  // G
  Dropout dropout;

 protected:
  Tensor queries(const Tensor& x) const override;
  Tensor keys(const Tensor& memory, std::int64_t first) const override;
  std::int64_t key_size() const override { return attend_out.weight.out(); }
  Tensor result(const Tensor& contexts, const Tensor& x) const override;
  std::string_view name() const override { return "decomposable"; }

 private:
  Tensor attended(const Tensor& x) const;
};

inline constexpr Mechanism kDecomposable = mechanism<DecomposableAttention>(
    "decomposable",
    {.title = "Decomposable attention",
     .formula = "G([x_i; sum_j softmax_j(F(x_i) . F(h_j)) h_j]), F and G of two ReLU layers",
     .paper = "Parikh, Täckström, Das and Uszkoreit 2016, A Decomposable Attention Model for "
              "Natural Language Inference",
     .cost = "n^2 d + n d^2",
     .composes = kWithMasks,
     .sample = "hidden=12"},
    {.decodes = true});

}  // namespace heed
