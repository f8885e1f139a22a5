// First values of parameters, drawn from an explicit generator. Each call takes one stream of it,
// so the order of calls decides what a parameter gets and nothing else does.
#pragma once

#include <cstdint>

#include "heed/base/random.h"
#include "heed/tensor/tensor.h"

namespace heed::init {

/// How many values flow into and out of one unit of a weight [out, in, …].
struct Fans {
  std::int64_t in;
  std::int64_t out;
};
/// Fans of a weight of a linear layer or convolution: sizes behind the second (the kernel) count
/// for both.
Fans fans_of(const Tensor& weight);

void zeros(Tensor& parameter);
void ones(Tensor& parameter);
void constant(Tensor& parameter, double value);
/// Uniform in [low, high).
void uniform(Tensor& parameter, double low, double high, Generator& generator);
/// Normal around 0.
void normal(Tensor& parameter, double deviation, Generator& generator);
/// Glorot and Bengio 2010: variance gain^2 2 / (fan_in + fan_out).
void xavier_uniform(Tensor& weight, Generator& generator, double gain = 1.0);
void xavier_normal(Tensor& weight, Generator& generator, double gain = 1.0);
/// He et al. 2015: variance gain^2 / fan_in. The default gain, 1/sqrt(3), is PyTorch's for linear
/// layers and convolutions and gives the range 1/sqrt(fan_in); for ReLU it is sqrt(2).
void kaiming_uniform(Tensor& weight, Generator& generator, double gain = 0.5773502691896258);

/// PyTorch's for the bias of a linear layer or convolution: uniform in the range 1/sqrt(fan_in) of
/// its weight.
void bias_uniform(Tensor& bias, const Tensor& weight, Generator& generator);

}  // namespace heed::init
