#include "tests/support/golden.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "heed/autograd/tape.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "tests/support/op_case.h"
#include "tests/support/paths.h"

namespace heed::test {

const Tensor& Golden::operator[](const std::string& name) const {
  const auto found = inputs.find(name);
  HEED_CHECK(found != inputs.end(), "[golden] no input or parameter '{}'", name);
  return found->second;
}

const std::string& Golden::text(const std::string& name) const {
  const auto found = metadata.find(name);
  HEED_CHECK(found != metadata.end(), "[golden] no metadata '{}'", name);
  return found->second;
}

double Golden::number(const std::string& name) const { return std::stod(text(name)); }

Golden load_golden(const std::string& name) {
  const auto path = golden_path(name + ".safetensors");
  const io::SafetensorsFile file = io::SafetensorsFile::open(path);
  Golden golden;
  golden.metadata = file.metadata();
  for (const io::SafetensorsEntry& entry : file.entries()) {
    const Tensor mapped =
        borrow(entry.bytes.data(), entry.dtype.value(), entry.shape, file.keeper());
    Tensor x = clone_data(mapped);
    golden.tensors[entry.name] = x;
    for (const std::string prefix : {"in.", "param."}) {
      if (!entry.name.starts_with(prefix)) continue;
      if (x.dtype() == DType::f32) x.requires_grad();
      golden.inputs[entry.name.substr(prefix.size())] = x;
    }
  }
  return golden;
}

void check_golden(const std::string& name, const std::function<Named(const Golden&)>& f,
                  double tolerance) {
  const Golden golden = load_golden(name);
  const Named outputs = f(golden);
  Tensor total;  // sum of out * grad_out: its gradients are those in the file
  for (const auto& [output, value] : outputs) {
    ASSERT_TRUE(golden.tensors.contains("out." + output)) << name << " has no output " << output;
    EXPECT_LE(max_relative_error(value, golden.tensors.at("out." + output)), tolerance)
        << name << ": out." << output;
    const auto upstream = golden.tensors.find("grad_out." + output);
    if (upstream == golden.tensors.end() || !value.tracks_grad()) continue;
    const Tensor part = sum(value * upstream->second);
    total = total.defined() ? total + part : part;
  }
  if (total.defined()) total.backward();
  for (const auto& [input, leaf] : golden.inputs) {
    const auto expected = golden.tensors.find("grad." + input);
    if (expected == golden.tensors.end()) continue;
    const Tensor actual = leaf.grad().defined() ? leaf.grad() : zeros(leaf.shape());
    EXPECT_LE(max_relative_error(actual, expected->second), tolerance)
        << name << ": grad." << input;
  }
}

}  // namespace heed::test
