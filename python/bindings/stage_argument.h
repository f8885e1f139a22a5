// A stage of attention in Python: how it changes a spec, and the arrays it was given. The arrays
// are read at every call, so that parameters may be trained in place.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "heed/attention/spec.h"

namespace heed::python {

enum class Role : std::uint8_t { score, modifier, normaliser };

struct NamedArray {
  const char* name;
  nanobind::object array;
};

struct StageArgument {
  /// Adds the stage to a spec; the tensors are the arrays, in the call's precision.
  using Apply = std::function<void(AttentionSpec& spec, std::span<const Tensor> arrays)>;

  const char* name;  ///< The function that makes it.
  Role role;
  std::vector<NamedArray> arrays;
  Apply apply;
};

}  // namespace heed::python
