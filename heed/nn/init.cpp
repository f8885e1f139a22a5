#include "heed/nn/init.h"

#include <cmath>

#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed::init {
namespace {

constinit thread_local int skipping = 0;  // the number of Skipped objects

// The range of a uniform distribution around 0 with this standard deviation.
double range_of(double deviation) { return std::sqrt(3.0) * deviation; }

double xavier_deviation(const Tensor& weight, double gain) {
  const Fans fans = fans_of(weight);
  return gain * std::sqrt(2.0 / static_cast<double>(fans.in + fans.out));
}

}  // namespace

Skipped::Skipped() { ++skipping; }
Skipped::~Skipped() { --skipping; }

Fans fans_of(const Tensor& weight) {
  HEED_CHECK(weight.rank() >= 2,
             "[init] a parameter of shape {} has no fan-in and fan-out: use uniform or normal",
             to_string(weight.shape()));
  std::int64_t kernel = 1;
  for (int axis = 2; axis < weight.rank(); ++axis) kernel *= weight.size(axis);
  return {.in = weight.size(1) * kernel, .out = weight.size(0) * kernel};
}

void zeros(Tensor& parameter) { constant(parameter, 0.0); }
void ones(Tensor& parameter) { constant(parameter, 1.0); }

void constant(Tensor& parameter, double value) {
  if (skipping > 0) return;
  copy_into(parameter, scalar(value, parameter.dtype()));
}

void uniform(Tensor& parameter, double low, double high, Generator& generator) {
  if (skipping > 0) return;
  copy_into(parameter, heed::uniform(parameter.shape(), low, high, generator, parameter.dtype()));
}

void normal(Tensor& parameter, double deviation, Generator& generator) {
  if (skipping > 0) return;
  copy_into(parameter,
            heed::normal(parameter.shape(), 0.0, deviation, generator, parameter.dtype()));
}

void xavier_uniform(Tensor& weight, Generator& generator, double gain) {
  const double range = range_of(xavier_deviation(weight, gain));
  uniform(weight, -range, range, generator);
}

void xavier_normal(Tensor& weight, Generator& generator, double gain) {
  normal(weight, xavier_deviation(weight, gain), generator);
}

void kaiming_uniform(Tensor& weight, Generator& generator, double gain) {
  const double range = range_of(gain / std::sqrt(static_cast<double>(fans_of(weight).in)));
  uniform(weight, -range, range, generator);
}

void bias_uniform(Tensor& bias, const Tensor& weight, Generator& generator) {
  const double range = 1.0 / std::sqrt(static_cast<double>(fans_of(weight).in));
  uniform(bias, -range, range, generator);
}

}  // namespace heed::init
