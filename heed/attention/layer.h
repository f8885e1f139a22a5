// The interface of all attention layers: one call on whole sequences, and decoding one position
// after another. variants/ has the layers, registry.h lists them by name.
//
//   const auto layer = make_attention("multi_head", {"embed=512", "heads=8"});
//   Tensor weights;
//   const Tensor y = (*layer)({.x = x, .causal = true, .weights = &weights});  // [B, T, E]
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "heed/attention/corner.h"
#include "heed/attention/mask.h"
#include "heed/attention/spec.h"
#include "heed/kernels/attention/page.h"
#include "heed/nn/module.h"

namespace heed {

using kernels::CacheForm;

/// The input of an attention layer. Traits (mechanism.h) say which members a mechanism accepts.
struct AttentionInput {
  Tensor x;            ///< Input that queries are computed from: [B, Tq, E].
  Tensor memory = {};  ///< Memory that keys and values are computed from, [B, Tk, E]; undefined: x.
  Tensor lengths = {};  ///< i64 [B]: valid positions of the memory; undefined: all.
  bool causal = false;  ///< Position i attends only to positions j <= i.
  Mask mask = {};       ///< Which positions a position may attend to, besides.
  /// If not null, x is [1, N, E] with sequences one after another, without padding. For layers that
  /// take it; there are no memory, lengths, mask and weights then.
  const PackedLengths* sequences = nullptr;
  /// If not null, receives the attention weights [B, H, Tq, Tk] of this call, without gradient.
  Tensor* weights = nullptr;

  const Tensor& source() const { return memory.defined() ? memory : x; }
};

/// What a layer keeps of the positions decoded so far.
class DecodeState {
 public:
  virtual ~DecodeState() = default;
  /// Sequence i becomes what sequence from[i] was, for beams.
  virtual void reorder(std::span<const std::int64_t> from) = 0;
  /// Whether sequences of another state of the layer may join, whatever their lengths.
  virtual bool can_join() const { return false; }
  /// Copies the sequences of another state of the layer to the end of its own. Throws unless
  /// can_join().
  virtual void join(const DecodeState& other);

  /// If not null, receives the attention weights [B, H, T, Tk] of each step. Keys are counted from
  /// the first one kept. A layer that keeps no keys (linear, average, lsh) writes nothing; a step
  /// of so many positions that a window takes it in parts writes the weights of its last part.
  Tensor* weights = nullptr;
};

/// The start of decoding.
struct DecodeStart {
  std::int64_t batch = 1;
  Tensor memory = {};   ///< Memory that all steps attend to, [B, Tk, E]; undefined: the steps.
  Tensor lengths = {};  ///< i64 [B]: valid positions of the memory; undefined: all.
  /// The form of the keys and values that are kept, in layers that keep them in pages.
  CacheForm cache = CacheForm::f32;
};

/// What one sequence keeps.
struct CacheSize {
  std::int64_t positions = 0;  ///< Of the steps, or of the memory.
  bool of_memory = false;
  CacheForm form = CacheForm::f32;
};

class AttentionLayer : public Module {
 public:
  /// The layer's result: [B, Tq, E], or what its own header says.
  virtual Tensor operator()(const AttentionInput& in) const = 0;

  /// Whether the layer takes sequences one after another (AttentionInput::sequences).
  virtual bool takes_sequences() const { return false; }

  /// Starts decoding; throws if the layer cannot.
  virtual std::unique_ptr<DecodeState> start(const DecodeStart& from) const;
  /// The next positions x [B, T, E] -> [B, T, E]: equal to the causal call at these positions.
  virtual Tensor step(const Tensor& x, DecodeState& state) const;
  /// Bytes of keys and values that decoding keeps for one sequence; 0 in layers that keep none.
  virtual std::int64_t cache_bytes(const CacheSize& size) const;

 protected:
  AttentionLayer() = default;
  AttentionLayer(AttentionLayer&&) = default;
  AttentionLayer& operator=(AttentionLayer&&) = default;
};

/// Throws unless x is [B, T, embed], the memory [B, Tk, memory_embed] and lengths i64 [B] within
/// Tk; `layer` is the name in the message.
void check_input(std::string_view layer, const AttentionInput& in, std::int64_t embed,
                 std::int64_t memory_embed);

/// Lengths, causal and mask as one mask.
Mask mask_of(const AttentionInput& in, Corner corner = Corner::top_left);

/// [B, T, heads * D] <-> [B, heads, T, D], without a copy where strides allow.
Tensor split_heads(const Tensor& x, std::int64_t heads);
Tensor join_heads(const Tensor& x);

}  // namespace heed
