// Batch normalisation (Ioffe and Szegedy 2015): every channel of a batch of pictures is normalised
// with the mean and variance of its places in all pictures:
//   y = (x - mean) * rstd * weight + bias,  rstd = 1 / sqrt(variance + eps).
// A channel is one cell of the grid, so its sums have one order for any number of threads.
#pragma once

#include <cstdint>

namespace heed::kernels {

/// A contiguous tensor [batch, channels, places].
struct ChannelShape {
  std::int64_t batch, channels, places;
  std::int64_t elements_per_channel() const { return batch * places; }
};

/// The mean and the variance (divided by n) of each channel, [channels].
void channel_moments(const ChannelShape& shape, const float* x, float* mean, float* variance);
void channel_moments(const ChannelShape& shape, const double* x, double* mean, double* variance);

/// A missing weight is 1 and a missing bias 0.
template <typename T>
struct BatchNormForward {
  ChannelShape shape;
  const T* x;
  const T* mean;    // [channels]
  const T* rstd;    // [channels]
  const T* weight;  // [channels], optional
  const T* bias;    // [channels], optional
  T* y;
};

/// With g = dy * weight and n = (x - mean) * rstd:
///   dx = rstd * (g - mean(g) - n * mean(g n)) if the statistics are those of x, else rstd * g;
///   dweight = sum of dy n and dbias = sum of dy, over the places of a channel.
template <typename T>
struct BatchNormBackward {
  ChannelShape shape;
  bool own_statistics;  // mean and rstd were computed from x
  const T* x;
  const T* mean;
  const T* rstd;
  const T* weight;  // optional
  const T* dy;
  T* dx;
  T* dweight;  // [channels]
  T* dbias;    // [channels]
};

void batch_norm(const BatchNormForward<float>& call);
void batch_norm(const BatchNormForward<double>& call);

void batch_norm_backward(const BatchNormBackward<float>& call);
void batch_norm_backward(const BatchNormBackward<double>& call);

}  // namespace heed::kernels
