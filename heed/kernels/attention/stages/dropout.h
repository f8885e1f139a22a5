// Dropout of attention weights: a weight is kept and multiplied by 1 / (1 - p), or set to 0. The
// choice depends on seed, stream, batch, head, query and key alone: not on tiles, threads or the
// instruction set.
#pragma once

#include <cstdint>

#include "heed/base/random.h"
#include "heed/kernels/attention/stages/query_random.h"
#include "heed/kernels/attention/tile.h"

namespace heed::kernels {

/// Weights are kept whose sixteen random bits, as a signed number, are at least `least`.
struct WeightMask {
  RandomStream random;
  std::int32_t least;
  double scale;  ///< Factor of the weights that are kept.

  /// p in [0, 1) is rounded to a multiple of 2^-16; the scale is computed from the rounded value.
  WeightMask(RandomStream stream, double p);

  /// The random numbers of one head.
  RandomStream of_head(std::int64_t batch, std::int64_t head) const {
    return random_of_head(random, batch, head);
  }
};

/// Keys that share one block of random bits.
inline constexpr std::int64_t kMaskKeys = 8;

/// Whether a weight is kept; `head` is WeightMask::of_head.
bool weight_dropout_keeps(const WeightMask& mask, RandomStream head, std::int64_t query,
                          std::int64_t key);

template <typename T>
class WeightDropout final : public TileStage<T> {
 public:
  explicit WeightDropout(const WeightMask& mask) : mask_(mask) {}

  StageNeeds needs(std::int64_t, bool backward) const override { return {.saved = backward}; }
  void forward(const Tile<T>& tile, StageSpace<T> space) const override;
  void backward(const Tile<T>& gradient, StageSpace<T> space) const override;

 private:
  WeightMask mask_;
};

extern template class WeightDropout<float>;
extern template class WeightDropout<double>;

}  // namespace heed::kernels
