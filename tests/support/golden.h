// Comparison with what PyTorch computed: files in tests/golden/, described in
// tools/golden/README.md.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "heed/io/safetensors.h"
#include "heed/tensor/tensor.h"

namespace heed::test {

using Named = std::map<std::string, Tensor>;

struct Golden {
  Named inputs;   // "in.x" and "param.weight" as x, weight; f32 ones are leaves that require a
                  // gradient
  Named tensors;  // everything in the file, under its full name
  io::Metadata metadata;

  const Tensor& operator[](const std::string& name) const;
  bool has(const std::string& name) const { return inputs.contains(name); }
  /// A hyperparameter.
  double number(const std::string& name) const;
  const std::string& text(const std::string& name) const;
};

/// Loads tests/golden/<name>.safetensors.
Golden load_golden(const std::string& name);

/// Computes f(golden), which returns outputs by name ("y" for a single one), and compares them and
/// all gradients with the file, relative to max(1, |value|).
void check_golden(const std::string& name, const std::function<Named(const Golden&)>& f,
                  double tolerance = 1e-5);

}  // namespace heed::test
