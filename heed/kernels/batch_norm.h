// Batch normalisation (Ioffe and Szegedy 2015): every channel of a batch of pictures is normalised
// with the mean and variance of its places in all pictures:
//   y = (x - mean) * rstd * weight + bias,  rstd = 1 / sqrt(variance + eps).
// What follows it in residual networks, a sum and ReLU, may be computed in the same passes.
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
  const T* add = nullptr;  // in the shape of y, optional: added to it
  bool relu = false;       // and max(y, 0) taken at last
};

/// With g = dy * weight and n = (x - mean) * rstd:
///   dx = rstd * (g - mean(g) - n * mean(g n)) if the statistics are those of x, else rstd * g;
///   dweight = sum of dy n and dbias = sum of dy, over the places of a channel.
/// After ReLU, dy counts only where y > 0; then it is also the gradient of what was added.
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
  T* dweight;                 // [channels]
  T* dbias;                   // [channels]
  const T* relu_y = nullptr;  // forward's y, if it ended in ReLU
  T* dadd = nullptr;          // of what was added, if wanted
};

void batch_norm(const BatchNormForward<float>& call);
void batch_norm(const BatchNormForward<double>& call);

void batch_norm_backward(const BatchNormBackward<float>& call);
void batch_norm_backward(const BatchNormBackward<double>& call);

}  // namespace heed::kernels
