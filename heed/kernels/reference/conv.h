// The plain twin of the convolutions: the definition, one multiply-add at a time.
#pragma once

#include <algorithm>

#include "heed/kernels/conv.h"

namespace heed::kernels::reference {

/// Calls f(x, w, y) with the positions of every product weight[w] * x[x] that belongs to y[y].
template <typename F>
void for_each_product(const ConvShape& s, const F& f) {
  const SlidingAxis& rows = s.window.rows;
  const SlidingAxis& columns = s.window.columns;
  const std::int64_t plane = s.window.inputs();
  const std::int64_t out_plane = s.window.outputs();
  const std::int64_t taps = s.window.taps();
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t o = 0; o < s.out_channels; ++o) {
      for (std::int64_t c = 0; c < s.group_in(); ++c) {
        const std::int64_t channel = o / s.group_out() * s.group_in() + c;
        for (std::int64_t y = 0; y < out_plane; ++y) {
          for (std::int64_t tap = 0; tap < taps; ++tap) {
            const std::int64_t row = rows.input(y / columns.outputs(), tap / columns.kernel);
            const std::int64_t column = columns.input(y % columns.outputs(), tap % columns.kernel);
            if (row < 0 || row >= rows.size || column < 0 || column >= columns.size) continue;
            f((b * s.in_channels + channel) * plane + row * columns.size + column,
              (o * s.group_in() + c) * taps + tap, (b * s.out_channels + o) * out_plane + y);
          }
        }
      }
    }
  }
}

inline void conv(const ConvShape& s, const double* x, const double* weight, const double* bias,
                 double* y) {
  const std::int64_t plane = s.window.outputs();
  for (std::int64_t i = 0; i < s.batch * s.out_channels; ++i) {
    std::fill_n(y + i * plane, plane, bias != nullptr ? bias[i % s.out_channels] : 0.0);
  }
  for_each_product(s, [&](std::int64_t at_x, std::int64_t at_w, std::int64_t at_y) {
    y[at_y] += x[at_x] * weight[at_w];
  });
}

inline void conv_backward_input(const ConvShape& s, const double* weight, const double* dy,
                                double* dx) {
  std::fill_n(dx, s.batch * s.in_channels * s.window.inputs(), 0.0);
  for_each_product(s, [&](std::int64_t at_x, std::int64_t at_w, std::int64_t at_y) {
    dx[at_x] += dy[at_y] * weight[at_w];
  });
}

inline void conv_backward_weight(const ConvShape& s, const double* x, const double* dy,
                                 double* dw) {
  std::fill_n(dw, s.out_channels * s.group_in() * s.window.taps(), 0.0);
  for_each_product(s, [&](std::int64_t at_x, std::int64_t at_w, std::int64_t at_y) {
    dw[at_w] += dy[at_y] * x[at_x];
  });
}

}  // namespace heed::kernels::reference
