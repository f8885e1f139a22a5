// The plain version of batch normalisation, one channel at a time.
#pragma once

#include "heed/kernels/batch_norm.h"

namespace heed::kernels::reference {

/// Calls f(first) with the index of the first element of each plane of a channel.
template <typename F>
void for_each_plane(const ChannelShape& s, std::int64_t channel, const F& f) {
  for (std::int64_t b = 0; b < s.batch; ++b) f((b * s.channels + channel) * s.places);
}

inline void channel_moments(const ChannelShape& s, std::int64_t channel, const double* x,
                            double* mean, double* variance) {
  const auto count = static_cast<double>(s.elements_per_channel());
  double sum = 0.0, squares = 0.0;
  for_each_plane(s, channel, [&](std::int64_t at) {
    for (std::int64_t i = at; i < at + s.places; ++i) sum += x[i];
  });
  mean[channel] = sum / count;
  for_each_plane(s, channel, [&](std::int64_t at) {
    for (std::int64_t i = at; i < at + s.places; ++i) {
      squares += (x[i] - mean[channel]) * (x[i] - mean[channel]);
    }
  });
  variance[channel] = squares / count;
}

inline void batch_norm_channel(const BatchNormForward<double>& c, std::int64_t channel) {
  const double scale = c.rstd[channel] * (c.weight != nullptr ? c.weight[channel] : 1.0);
  const double bias = c.bias != nullptr ? c.bias[channel] : 0.0;
  for_each_plane(c.shape, channel, [&](std::int64_t at) {
    for (std::int64_t i = at; i < at + c.shape.places; ++i) {
      c.y[i] = (c.x[i] - c.mean[channel]) * scale + bias;
      if (c.add != nullptr) c.y[i] += c.add[i];
      if (c.relu && c.y[i] < 0.0) c.y[i] = 0.0;
    }
  });
}

inline void batch_norm_backward_channel(const BatchNormBackward<double>& c, std::int64_t channel) {
  const double rstd = c.rstd[channel];
  const auto dy = [&](std::int64_t i) {
    return c.relu_y == nullptr || c.relu_y[i] > 0.0 ? c.dy[i] : 0.0;
  };
  double sum = 0.0, along = 0.0;
  for_each_plane(c.shape, channel, [&](std::int64_t at) {
    for (std::int64_t i = at; i < at + c.shape.places; ++i) {
      sum += dy(i);
      along += dy(i) * (c.x[i] - c.mean[channel]) * rstd;
      if (c.dadd != nullptr) c.dadd[i] = dy(i);
    }
  });
  c.dbias[channel] = sum;
  c.dweight[channel] = along;
  const double scale = rstd * (c.weight != nullptr ? c.weight[channel] : 1.0);
  const double share =
      c.own_statistics ? 1.0 / static_cast<double>(c.shape.elements_per_channel()) : 0.0;
  for_each_plane(c.shape, channel, [&](std::int64_t at) {
    for (std::int64_t i = at; i < at + c.shape.places; ++i) {
      const double normal = (c.x[i] - c.mean[channel]) * rstd;
      c.dx[i] = scale * (dy(i) - share * sum - normal * share * along);
    }
  });
}

}  // namespace heed::kernels::reference
