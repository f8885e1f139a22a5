// Sequences that a model decodes token by token, and the attention weights of its layers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/kernels/attention/page.h"
#include "heed/tensor/tensor.h"

namespace heed {

using kernels::CacheForm;

/// The attention weights of one layer: [B, H, T, Tk] each.
struct LayerWeights {
  Tensor self;
  Tensor cross;  // undefined in layers without cross-attention
};

/// The attention weights of a model, one entry per layer; a model without encoder has none there.
struct ModelWeights {
  std::vector<LayerWeights> encoder, decoder;
};

/// Which attention weights of a model are recorded.
enum class ObservedWeights : std::uint8_t { none, cross, all };

/// How a model decodes.
enum class Stepping : std::uint8_t {
  automatic,  ///< Cached if every attention of the decoder can.
  cached,     ///< Keys and values of earlier positions are kept.
  replayed,   ///< Every step computes all positions again.
};

/// Some sequences in progress.
class Decoding {
 public:
  virtual ~Decoding() = default;
  /// Appends tokens to each sequence: ids [B, T] -> [B, T, E].
  virtual Tensor step(const Tensor& ids) = 0;
  /// Sequence i becomes what sequence from[i] was; there may be fewer sequences then, or more.
  virtual void reorder(std::span<const std::int64_t> from) = 0;
  /// Whether sequences of another decoding of the model may join, whatever their lengths.
  virtual bool can_join() const { return false; }
  /// Copies the sequences of another decoding of the model to the end of its own. Throws unless
  /// both can_join().
  virtual void join(const Decoding& other);
  /// Each later step writes its attention weights to `to`, one entry per layer. `to` must outlive
  /// the decoding. Weights of an attention that keeps no keys stay undefined.
  virtual void observe(std::vector<LayerWeights>& to, ObservedWeights what) = 0;
};

}  // namespace heed
