// What all attention layers have in common: one call, whose weights can be looked at, and decoding
// one position after another. variants/ has the layers, registry.h lists them by name.
//
//   const auto layer = make_attention("multi_head", {"embed=512", "heads=8"});
//   const Tensor y = (*layer)({.x = x, .lengths = lengths, .causal = true});  // [B, T, E]
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "heed/attention/corner.h"
#include "heed/attention/mask.h"
#include "heed/nn/module.h"

namespace heed {

/// What a layer is asked with. Not every layer takes all of it: Traits (registry.h) say which.
struct AttentionInput {
  Tensor x;             ///< What asks: [B, Tq, E].
  Tensor memory = {};   ///< What is asked: [B, Tk, E]; undefined: x itself.
  Tensor lengths = {};  ///< i64 [B]: what is asked has only so many positions; undefined: all.
  bool causal = false;  ///< Position i sees none behind i.
  Mask mask = {};       ///< What position i may see besides.

  const Tensor& source() const { return memory.defined() ? memory : x; }
};

/// What a layer remembers of the positions decoded so far.
class DecodeState {
 public:
  virtual ~DecodeState() = default;
  /// Sequence i becomes what sequence from[i] was, for beams.
  virtual void reorder(std::span<const std::int64_t> from) = 0;
};

/// What decoding starts from.
struct DecodeStart {
  std::int64_t batch = 1;
  Tensor memory =
      {};  ///< What is asked at every step: [B, Tk, E]; undefined: the steps themselves.
  Tensor lengths = {};  ///< i64 [B], of the memory.
};

class AttentionLayer : public Module {
 public:
  /// The layer's result: [B, Tq, E], or what its own header says.
  virtual Tensor operator()(const AttentionInput& in) const = 0;
  /// How much each position of the result takes from each one that is asked: [B, H, Tq, Tk].
  virtual Tensor weights(const AttentionInput& in) const = 0;

  /// Starts decoding; throws if the layer cannot.
  virtual std::unique_ptr<DecodeState> start(const DecodeStart& from) const;
  /// The next positions x [B, T, E] -> [B, T, E]: what the causal call gives at these places.
  virtual Tensor step(const Tensor& x, DecodeState& state) const;

 protected:
  AttentionLayer() = default;
  AttentionLayer(AttentionLayer&&) = default;
  AttentionLayer& operator=(AttentionLayer&&) = default;
};

/// Throws unless x is [B, T, embed], the memory [B, Tk, memory_embed] and lengths i64 [B] within
/// Tk; `layer` is who complains.
void check_input(std::string_view layer, const AttentionInput& in, std::int64_t embed,
                 std::int64_t memory_embed);

/// Lengths, causal and what else may be seen, as one mask.
Mask mask_of(const AttentionInput& in, Corner corner = Corner::top_left);

/// [B, T, heads * D] <-> [B, heads, T, D], without a copy where strides allow.
Tensor split_heads(const Tensor& x, std::int64_t heads);
Tensor join_heads(const Tensor& x);

}  // namespace heed
