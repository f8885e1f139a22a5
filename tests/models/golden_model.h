// Whole models beside PyTorch's (tools/golden/models.py): the scores and all gradients of a batch,
// and ten steps of Adam.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "heed/nn/checkpoint_file.h"
#include "heed/ops/cross_entropy.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "heed/training/optimizer.h"
#include "tests/support/golden.h"
#include "tests/support/op_case.h"
#include "tests/support/paths.h"

namespace heed::test {

/// Compares tensors by name with those of a golden file that begin with `prefix`, renamed.
inline void expect_golden(std::vector<NamedTensor> tensors, const std::string& name,
                          const LoadOptions& options, double tolerance) {
  std::vector<NamedTensor> expected;
  for (const NamedTensor& actual : tensors) {
    expected.push_back({actual.name, empty(actual.tensor.shape(), actual.tensor.dtype())});
  }
  load_tensors(expected, io::SafetensorsFile::open(golden_path(name + ".safetensors")), options);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_LE(max_relative_error(tensors[i].tensor, expected[i].tensor), tolerance)
        << name << ": " << options.prefix << tensors[i].name;
  }
}

/// A model and what PyTorch says of it.
struct GoldenModel {
  std::string name;            // of the file
  std::vector<Rename> rename;  // from PyTorch's names to the model's
  /// Scores [..., V] of what the inputs of a step say; `in(input)` gives one of them.
  using Input = std::function<Tensor(const char* name)>;
  std::function<Tensor(const Input& in)> scores;
  std::int64_t ignored = -100;  // the target that does not count
};

inline AdamConfig golden_adam(const Golden& golden) {
  const std::string& betas = golden.text("betas");
  const bool decays = golden.metadata.contains("weight_decay");
  return {.beta1 = std::stod(betas),
          .beta2 = std::stod(betas.substr(betas.find(',') + 1)),
          .epsilon = golden.number("eps"),
          .weight_decay = decays ? golden.number("weight_decay") : 0.0,
          .decay_matrices_only = decays};
}

/// Scores, loss, gradients of the first step to 1e-5; losses and parameters of the steps after it
/// to what f32 can, or in f64 to what the file holds.
inline void check_golden_model(Module& model, const GoldenModel& test, DType dtype) {
  const Golden golden = load_golden(test.name);
  load_parameters(model, golden_path(test.name + ".safetensors"),
                  {.prefix = "param.", .rename = test.rename});
  model.to(dtype);
  const bool exact = dtype == DType::f64;
  std::unique_ptr<Optimizer> optimizer;
  const AdamConfig config = golden_adam(golden);
  if (config.weight_decay > 0.0) {
    optimizer = std::make_unique<AdamW>(model.named_parameters(), config);
  } else {
    optimizer = std::make_unique<Adam>(model.named_parameters(), config);
  }
  for (std::int64_t step = 0; step < 10; ++step) {
    const auto in = [&](const char* name) {
      return clone_data(view::select(golden[name], 0, step));
    };
    const Tensor scores = test.scores(in);
    const Tensor loss = cross_entropy(
        scores, in("expected"),
        {.label_smoothing = golden.number("label_smoothing"), .ignore_index = test.ignored});
    loss.backward();
    const double expected = view::select(golden.tensors.at("out.loss"), 0, step).item();
    EXPECT_NEAR(loss.item(), expected, exact ? 2e-7 : 2e-5) << test.name << ", step " << step;
    if (step == 0) {
      const double tolerance = exact ? 5e-7 : 1e-5;
      EXPECT_LE(max_relative_error(scores, golden.tensors.at("out.scores")), tolerance);
      std::vector<NamedTensor> gradients;
      for (const NamedTensor& parameter : model.named_parameters()) {
        gradients.push_back({parameter.name, parameter.tensor.grad()});
      }
      expect_golden(gradients, test.name, {.prefix = "grad.", .rename = test.rename}, tolerance);
    }
    optimizer->step({.rate = golden.number("lr")});
    optimizer->zero_grad();
  }
  expect_golden(model.named_parameters(), test.name, {.prefix = "after.", .rename = test.rename},
                exact ? 2e-7 : 5e-5);
}

}  // namespace heed::test
