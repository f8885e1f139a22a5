// How scores become weights, as a value.
#pragma once

#include <string>
#include <utility>

#include "heed/kernels/attention/program.h"
#include "heed/tensor/tensor.h"

namespace heed {

class Normaliser {
 public:
  Normaliser(std::string name, kernels::Normalise kind, Tensor sinks = {})
      : name_(std::move(name)), kind_(kind), sinks_(std::move(sinks)) {}

  /// As in messages: the name of the function that makes it.
  const std::string& name() const { return name_; }
  kernels::Normalise kind() const { return kind_; }
  /// [H], or undefined.
  const Tensor& sinks() const { return sinks_; }
  bool has_log_sum_exp() const { return kind_ == kernels::Normalise::softmax; }

 private:
  std::string name_;
  kernels::Normalise kind_;
  Tensor sinks_;
};

/// e^score, divided by the sum over all keys a query sees.
Normaliser softmax_weights();
/// The same with one more term in each head's sum, e^sink: weight that goes to no value (Xiao et
/// al. 2023; gpt-oss). sinks [H], learned or not.
Normaliser softmax_with_sink(const Tensor& sinks);
/// 1 / (1 + e^-score), each key by itself.
Normaliser sigmoid_weights();
/// The scores themselves, 0 where hidden.
Normaliser no_normaliser();

}  // namespace heed
