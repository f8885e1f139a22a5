// Results of two ways to compute the same, side by side.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heed/base/isa.h"
#include "heed/tensor/tensor.h"

namespace heed::torture {

/// A result: the output, then gradients.
struct Outcome {
  std::vector<std::string> names;
  std::vector<Tensor> tensors;

  void add(std::string name, Tensor tensor) {
    names.push_back(std::move(name));
    tensors.push_back(std::move(tensor));
  }
};

/// The largest |a - b|, divided by the largest |b| if that is above 1; infinite if shapes differ or
/// a number is not finite.
double error_of(const Tensor& a, const Tensor& b);

struct Tolerance {
  double output = 2e-5;
  double gradient = 2e-4;
};

/// Throws Wrong unless the tensors are as close as they must be.
void require_close(const Outcome& actual, const Outcome& expected, const Tolerance& tolerance,
                   const std::string& what);
/// Calls f(isa) with each instruction set of this CPU in force, or with the current one alone after
/// keep_isa().
void with_isas(const std::function<void(Isa)>& f);
/// The set is global to the process, so threads that run cases at once must not change it.
void keep_isa();

/// Throws Wrong unless all bits are equal.
void require_same_bits(const Outcome& a, const Outcome& b, const std::string& what);

}  // namespace heed::torture
