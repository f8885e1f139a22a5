#include "heed/kernels/pool.h"

#include <algorithm>
#include <cmath>

#include "heed/base/arena.h"
#include "heed/base/threads.h"

namespace heed::kernels {
namespace {

// Calls f(plane) for all planes, on all threads.
template <typename F>
void for_each_plane(const PoolShape& s, const F& f) {
  parallel_for(s.planes, s.window.outputs() * s.window.taps(), f);
}

// Calls f(output, input, n) for all pieces of rows, for each element of the window in turn.
template <typename F>
void for_each_piece(const Window& w, const F& f) {
  for (std::int64_t tap = 0; tap < w.taps(); ++tap) {
    kernels::for_each_piece(w, tap, {0, w.outputs()}, f);
  }
}

// The reciprocal of each output's divisor; the same for all planes.
template <typename T>
void shares(const Window& w, PoolCount count, T* share) {
  if (count == PoolCount::window) {
    std::fill_n(share, w.outputs(), T{1} / static_cast<T>(w.taps()));
    return;
  }
  std::fill_n(share, w.outputs(), T{0});
  for_each_piece(w, [&](std::int64_t out, std::int64_t, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) share[out + i] += T{1};
  });
  for (std::int64_t i = 0; i < w.outputs(); ++i) share[i] = T{1} / share[i];
}

}  // namespace

template <typename T>
void max_pool(const PoolShape& s, const T* x, T* y, std::int32_t* chosen) {
  const Window& w = s.window;
  const std::int64_t step = w.columns.stride;
  for_each_plane(s, [&](std::int64_t plane) {
    const T* const in = x + plane * w.inputs();
    T* const best = y + plane * w.outputs();
    std::int32_t* const where = chosen + plane * w.outputs();
    std::fill_n(where, w.outputs(), -1);
    for_each_piece(w, [&](std::int64_t out, std::int64_t first, std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t at = first + i * step;
        const T value = in[at];
        if (where[out + i] < 0 || value > best[out + i] || std::isnan(value)) {
          best[out + i] = value;
          where[out + i] = static_cast<std::int32_t>(at);
        }
      }
    });
  });
}

template <typename T>
void max_pool_backward(const PoolShape& s, const T* dy, const std::int32_t* chosen, T* dx) {
  const std::int64_t outputs = s.window.outputs();
  const std::int64_t inputs = s.window.inputs();
  for_each_plane(s, [&](std::int64_t plane) {
    T* const to = dx + plane * inputs;
    std::fill_n(to, inputs, T{0});
    for (std::int64_t i = plane * outputs; i < (plane + 1) * outputs; ++i) to[chosen[i]] += dy[i];
  });
}

template <typename T>
void average_pool(const PoolShape& s, PoolCount count, const T* x, T* y) {
  const Window& w = s.window;
  const std::int64_t step = w.columns.stride;
  const Scratch<T> share(w.outputs());
  shares(w, count, share.data());
  for_each_plane(s, [&](std::int64_t plane) {
    const T* const in = x + plane * w.inputs();
    T* const sums = y + plane * w.outputs();
    std::fill_n(sums, w.outputs(), T{0});
    for_each_piece(w, [&](std::int64_t out, std::int64_t first, std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i) sums[out + i] += in[first + i * step];
    });
    for (std::int64_t i = 0; i < w.outputs(); ++i) sums[i] *= share[i];
  });
}

template <typename T>
void average_pool_backward(const PoolShape& s, PoolCount count, const T* dy, T* dx) {
  const Window& w = s.window;
  const std::int64_t step = w.columns.stride;
  const Scratch<T> share(w.outputs());
  shares(w, count, share.data());
  for_each_plane(s, [&](std::int64_t plane) {
    const T* const from = dy + plane * w.outputs();
    T* const to = dx + plane * w.inputs();
    std::fill_n(to, w.inputs(), T{0});
    for_each_piece(w, [&](std::int64_t out, std::int64_t first, std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i) to[first + i * step] += from[out + i] * share[out + i];
    });
  });
}

#define HEED_INSTANTIATE(T)                                                             \
  template void max_pool(const PoolShape&, const T*, T*, std::int32_t*);                \
  template void max_pool_backward(const PoolShape&, const T*, const std::int32_t*, T*); \
  template void average_pool(const PoolShape&, PoolCount, const T*, T*);                \
  template void average_pool_backward(const PoolShape&, PoolCount, const T*, T*);
HEED_INSTANTIATE(float)
HEED_INSTANTIATE(double)
#undef HEED_INSTANTIATE

}  // namespace heed::kernels
