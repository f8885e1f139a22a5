// Modules in golden tests: a module whose parameters are those of the file.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "heed/nn/module.h"
#include "tests/support/golden.h"

namespace heed::test {

/// Puts the golden's parameters (its "param." tensors, which are leaves) into the module; both must
/// have exactly the same names and shapes.
inline void take_parameters(Module& module, const Golden& golden) {
  std::set<std::string> taken;
  const auto take = [&](const std::string& name, Tensor& parameter) {
    ASSERT_TRUE(golden.tensors.contains("param." + name)) << "the golden has no " << name;
    const Tensor& value = golden[name];
    EXPECT_EQ(to_string(value.shape()), to_string(parameter.shape())) << name;
    parameter = value;
    taken.insert(name);
  };
  const auto ignore = [](Module&) {};
  ParameterVisitor(take, ignore).root(module);
  for (const auto& [name, tensor] : golden.tensors) {
    if (name.starts_with("param.")) {
      EXPECT_TRUE(taken.contains(name.substr(6))) << "the module has no " << name;
    }
  }
}

}  // namespace heed::test
