// The small network of the optimisers' golden files, and its ten steps beside PyTorch's.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "heed/nn/linear.h"
#include "heed/nn/norm.h"
#include "heed/ops/cross_entropy.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/view.h"
#include "tests/support/golden.h"
#include "tests/support/op_case.h"

namespace heed::test {

/// Linear 7->16, exact GELU, LayerNorm, Linear 16->5.
struct GoldenNetwork : Module {
  Linear fc1{{.in = 7, .out = 16, .activation = Activation::gelu}};
  LayerNorm norm{{.size = 16}};
  Linear fc2{{.in = 16, .out = 5}};

  void visit(ParameterVisitor& v) override {
    v("fc1", fc1);
    v("norm", norm);
    v("fc2", fc2);
  }
  Tensor operator()(const Tensor& x) const { return fc2(norm(fc1(x))); }  // [B, 5]
};

/// The network with a golden's first parameters, in a precision.
inline GoldenNetwork golden_network(const Golden& golden, DType dtype) {
  GoldenNetwork network;
  for (NamedTensor& named : network.named_parameters()) copy_into(named.tensor, golden[named.name]);
  network.to(dtype);
  return network;
}

/// The loss of step i on that step's batch.
inline Tensor golden_loss(const GoldenNetwork& network, const Golden& golden, std::int64_t i) {
  const DType dtype = network.fc1.weight.dtype();
  const Tensor x = cast_data(view::select(golden["x"], 0, i).detach(), dtype);  // [6, 7]
  const Tensor target = view::select(golden["target"], 0, i);                   // [6]
  return cross_entropy(network(x), target, {.label_smoothing = golden.number("label_smoothing")});
}

/// Compares named tensors with slice i of "<prefix>.<name>".
inline void expect_golden_step(std::span<const NamedTensor> tensors, const Golden& golden,
                               const std::string& prefix, std::int64_t i, double tolerance) {
  for (const auto& [name, tensor] : tensors) {
    const Tensor expected = view::select(golden.tensors.at(prefix + "." + name), 0, i);
    EXPECT_LE(max_relative_error(tensor, expected), tolerance)
        << prefix << "." << name << " at step " << i;
  }
}

}  // namespace heed::test
