// Reversible layers (Gomez et al. 2017, RevNet; Kitaev, Kaiser and Levskaya 2020, Reformer). Two
// streams go through each layer:
//
//   y1 = x1 + f(x2)        x2 = y2 - g(y1)
//   y2 = x2 + g(y1)        x1 = y1 - f(x2)
//
// The inputs of a layer follow from its outputs, so a stack keeps only the outputs of its last
// layer. The backward pass goes back layer by layer: it computes f and g again, subtracts them, and
// sends the gradient through them. Memory does not depend on the number of layers.
//
//   const ReversibleLayer layers[] = {reversible(attend, feed), reversible(attend2, feed2)};
//   const Streams y = run_reversible(layers, {x, x});
//
// A layer may have any number of parts, which are added to the two streams in turn
// (ReversibleStep), and parts may read a memory, such as the output of an encoder.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "heed/tensor/tensor.h"

namespace heed {

/// The two streams, of the same shape.
struct Streams {
  Tensor x1, x2;
};

/// A part of a layer: x -> the same shape. It is called once in the forward pass and once more in
/// the backward pass, where it must do the same. Random numbers of the default generator are the
/// same in both calls.
using ReversiblePart = std::function<Tensor(const Tensor&)>;

/// One layer.
struct ReversibleLayer {
  ReversiblePart f, g;
  /// If not 0, g treats every row (all axes but the last) alone, as a feed-forward network does. It
  /// is called with so many rows [rows, E] at a time, in both passes, and what it computes inside
  /// is in memory for these rows only.
  std::int64_t g_rows = 0;
};

/// The layer of two parts.
inline ReversibleLayer reversible(ReversiblePart f, ReversiblePart g, std::int64_t g_rows = 0) {
  return {std::move(f), std::move(g), g_rows};
}

/// A part that may also read a memory: (x, memory) -> the shape of x.
using MemoryPart = std::function<Tensor(const Tensor& x, const Tensor& memory)>;

/// A part of a list whose parts change the two streams in turn: the first is added to x1, the
/// second to x2, the third to x1 again. Each reads the other stream.
struct ReversibleStep {
  MemoryPart part;
  /// As ReversibleLayer::g_rows.
  std::int64_t rows = 0;
};

/// The outputs of the last layer. Parameters that the parts capture get their gradients as usual.
/// Inputs that are computed back differ from the true ones by rounding, and so do gradients from
/// those of run_plain().
Streams run_reversible(std::span<const ReversibleLayer> layers, const Streams& x);

/// The same for steps. `memory` is what their parts get; it may be undefined. Its gradient is the
/// sum over all steps and goes on once, so the graph that the memory comes from runs back once.
/// Parts must not capture a tensor of that graph.
Streams run_reversible(std::span<const ReversibleStep> steps, const Streams& x,
                       const Tensor& memory);

/// The same values with everything on the tape: gradients of the true inputs, and as much memory as
/// other layers take. The reference of run_reversible().
Streams run_plain(std::span<const ReversibleLayer> layers, const Streams& x);
Streams run_plain(std::span<const ReversibleStep> steps, const Streams& x, const Tensor& memory);

}  // namespace heed
