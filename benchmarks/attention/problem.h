// One attention problem to be timed: operands, a spec, and the number of visible pairs of query and
// key.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "heed/attention/attention.h"

namespace heed::bench {

struct AttentionSizes {
  std::int64_t n = 512;  ///< Queries and keys.
  std::int64_t d = 64;
  std::int64_t heads = 8;
  std::int64_t kv_heads = 0;  ///< 0: as many as heads.
  float q_scale = 1.0f;
};

/// The number of heads that keeps the run time comparable.
inline std::int64_t heads_for(std::int64_t n) {
  return n <= 128 ? 16 : n <= 512 ? 8 : n <= 2048 ? 4 : 1;
}

/// The learned tensors of a spec: standard normal numbers, the same for every dtype.
class Learned {
 public:
  explicit Learned(DType dtype) : dtype_(dtype) {}
  Tensor operator()(const Shape& shape);
  void forget_gradients();

 private:
  DType dtype_;
  std::vector<Tensor> tensors_;
};

/// Makes the spec for the given sizes.
using MakeSpec = std::function<AttentionSpec(const AttentionSizes& sizes, Learned& learned)>;

inline AttentionSpec plain(const AttentionSizes&, Learned&) { return {}; }
MakeSpec masked(Mask mask);
/// A dense bias for every head.
AttentionSpec biased(const AttentionSizes& sizes, Learned& learned);
/// Dropout of 0.1.
AttentionSpec dropped(const AttentionSizes& sizes, Learned& learned);

class AttentionProblem {
 public:
  /// `pairs` is the number of visible pairs of query and key in one head.
  AttentionProblem(const AttentionSizes& sizes, MakeSpec make, double pairs);

  const AttentionSizes& sizes() const { return sizes_; }
  double forward_flops() const;
  double backward_flops() const { return 2.5 * forward_flops(); }

  /// Seconds of a call without the tape, of the backward pass alone, and of a call with both.
  double time_forward() const;
  double time_backward();
  double time_both();

  /// The largest errors of the output and of the gradients of q, k and v against double, for one
  /// head.
  struct Errors {
    double forward, backward;
  };
  Errors errors() const;

 private:
  void forget_gradients();

  AttentionSizes sizes_;
  MakeSpec make_;
  double pairs_;
  Learned learned_;
  AttentionSpec spec_;
  Tensor q_, k_, v_, dy_;
};

double all_pairs(std::int64_t n);
double causal_pairs(std::int64_t n);
double window_pairs(std::int64_t n, std::int64_t left);

}  // namespace heed::bench
