// Non-local block (Wang et al. 2018, Non-local Neural Networks): every place of a picture or video
// attends to every other, and the result is added to it:
//
//   z_i = W_z y_i + x_i,   y_i = sum_j f(x_i, x_j) g(x_j) / C
//
//   gaussian            f = e^(x_i . x_j)                      C = sum_j f
//   embedded_gaussian   f = e^(theta_i . phi_j)                C = sum_j f
//   dot                 f = theta_i . phi_j                    C = N, the number of places j
//   concat              f = ReLU(w^T [theta_i, phi_j])         C = N
//
// theta, phi and g are linear maps to fewer channels. W_z starts at 0, so that a new block in a
// trained network changes nothing at first. The batch norm after W_z is not included.
#pragma once

#include <array>
#include <optional>

#include "heed/attention/mechanism.h"
#include "heed/attention/spec.h"
#include "heed/io/codec.h"
#include "heed/nn/linear.h"

namespace heed {

/// The function f that compares two places.
enum class NonLocalForm : std::uint8_t { gaussian, embedded_gaussian, dot, concat };

/// The names that configs use.
constexpr std::array<io::EnumName<NonLocalForm>, 4> enum_names(NonLocalForm) {
  return {{{NonLocalForm::gaussian, "gaussian"},
           {NonLocalForm::embedded_gaussian, "embedded_gaussian"},
           {NonLocalForm::dot, "dot"},
           {NonLocalForm::concat, "concat"}}};
}

struct NonLocalConfig {
  std::int64_t embed = 64;    // channels
  std::int64_t channels = 0;  // 0: half of embed
  NonLocalForm form = NonLocalForm::embedded_gaussian;
  std::int64_t subsample = 1;

  void fields(io::Fields& field);
};

/// Parameters "theta", "phi" (not gaussian), "g", "out" (W_z), each with weight and bias, and
/// "compare" [2 C'] (only concat).
class NonLocal : public AttentionLayer {
 public:
  using Config = NonLocalConfig;
  explicit NonLocal(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  /// A picture [B, C, H, W] or a video [B, C, T, H, W] -> the same shape.
  Tensor operator()(const AttentionInput& in) const override;

  std::optional<Linear> theta, phi;
  Linear g, out;
  Tensor compare;  // [2 C'], or undefined

 private:
  struct Operands {
    Tensor q, k, v;  // [B, 1, N, D], [B, 1, N', D], [B, 1, N', C']
  };
  Operands project(const Tensor& x) const;
  AttentionSpec spec_of(std::int64_t keys) const;

  Config config_;
};

inline constexpr Mechanism kNonLocal = mechanism<NonLocal>(
    "non_local",
    {.title = "Non-local block",
     .formula =
         "z_i = W_z sum_j f(x_i, x_j) g(x_j) / C + x_i, f Gaussian, embedded Gaussian, dot or "
         "concat",
     .paper = "Wang et al. 2018, Non-local Neural Networks",
     .cost = "n^2 d, n places of the picture",
     .composes = "pictures and video, subsampling",
     .sample = "subsample=2"},
    {.form = Form::picture, .cross = false, .lengths = false, .causal = false, .mask = false});

}  // namespace heed
