// Initial values of parameters, drawn from an explicit generator. Each call takes one stream of the
// generator, so the values of a parameter depend only on the seed and on the order of calls.
#pragma once

#include <cstdint>

#include "heed/base/random.h"
#include "heed/tensor/tensor.h"

namespace heed::init {

/// While it lives, the functions below leave the parameters of this thread as they are: for a model
/// whose parameters are then read from a file.
class Skipped {
 public:
  Skipped();
  ~Skipped();
  Skipped(const Skipped&) = delete;
  Skipped& operator=(const Skipped&) = delete;
};

/// Fan-in and fan-out of a weight [out, in, …]: the number of inputs and outputs of one unit.
struct Fans {
  std::int64_t in;
  std::int64_t out;
};
/// Fan-in and fan-out of the weight of a linear layer or convolution. The sizes after the second
/// (the kernel) multiply both.
Fans fans_of(const Tensor& weight);

/// Every element 0.
void zeros(Tensor& parameter);
/// Every element 1.
void ones(Tensor& parameter);
/// Every element `value`.
void constant(Tensor& parameter, double value);
/// Uniform in [low, high).
void uniform(Tensor& parameter, double low, double high, Generator& generator);
/// Normal with mean 0 and the given standard deviation.
void normal(Tensor& parameter, double deviation, Generator& generator);
/// Glorot and Bengio 2010: variance gain^2 2 / (fan_in + fan_out).
void xavier_uniform(Tensor& weight, Generator& generator, double gain = 1.0);
void xavier_normal(Tensor& weight, Generator& generator, double gain = 1.0);
/// He et al. 2015: variance gain^2 / fan_in. The default gain, 1/sqrt(3), is PyTorch's for linear
/// layers and convolutions and gives the range ±1/sqrt(fan_in); the gain for ReLU is sqrt(2).
void kaiming_uniform(Tensor& weight, Generator& generator, double gain = 0.5773502691896258);

/// PyTorch's initial bias of a linear layer or convolution: uniform in ±1/sqrt(fan_in) of its
/// weight.
void bias_uniform(Tensor& bias, const Tensor& weight, Generator& generator);

}  // namespace heed::init
