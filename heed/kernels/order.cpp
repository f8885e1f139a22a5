#include "heed/kernels/order.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>

#include "heed/base/arena.h"

namespace heed::kernels {
namespace {

template <typename T>
bool is_nan(T x) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(x);
  return false;
}

struct Larger {
  template <typename T>
  bool operator()(T a, T b) const {
    return a > b || (is_nan(a) && !is_nan(b));
  }
  /// A fast check for whole blocks: if it is false, operator() is false too.
  template <typename T>
  bool perhaps(T a, T b) const {
    return !(a <= b);
  }
};

struct Smaller {
  template <typename T>
  bool operator()(T a, T b) const {
    return a < b || (is_nan(a) && !is_nan(b));
  }
  template <typename T>
  bool perhaps(T a, T b) const {
    return !(a >= b);
  }
};

constexpr std::int64_t kBlock = 64;

// False if no element of a block of kBlock beats `best`. Nearly all blocks of a long line are
// rejected here, so a scan costs about one vectorised comparison per element.
template <typename Beats, typename T>
bool any_beats(const Beats& beats, const T* x, T best) {
  bool any = false;
  for (std::int64_t i = 0; i < kBlock; ++i) any |= beats.perhaps(x[i], best);
  return any;
}

template <typename T>
struct Line {
  const T* data;
  std::int64_t length;
  std::int64_t step;
  T operator[](std::int64_t i) const { return data[i * step]; }
};

// Calls f(i) for the elements of a line from `first` on that may beat best(), in order.
template <typename Beats, typename T, typename Best, typename F>
void for_each_candidate(const Beats& beats, const Line<T>& line, std::int64_t first,
                        const Best& best, const F& f) {
  for (std::int64_t i = first; i < line.length;) {
    const std::int64_t end = std::min(line.length, i + kBlock);
    const bool whole = line.step == 1 && end == i + kBlock;
    if (whole && !any_beats(beats, line.data + i, best())) {
      i = end;
      continue;
    }
    for (; i < end; ++i) f(i);
  }
}

template <typename T>
struct Entry {
  T value;
  std::int64_t index;
};

// The total order: by value, then by index.
template <typename Beats>
struct Before {
  template <typename T>
  bool operator()(const Entry<T>& a, const Entry<T>& b) const {
    const Beats beats;
    return beats(a.value, b.value) || (!beats(b.value, a.value) && a.index < b.index);
  }
};

// NaN counts as the largest, so ascending order puts it at the end.
struct Ascending {
  template <typename T>
  bool operator()(T a, T b) const {
    return Larger()(b, a);
  }
};

// Writes the first n entries as a line of values and a line of indices.
template <typename T>
struct Output {
  T* values;
  std::int64_t* indices;
  const Lines<3>& lines;

  void write(const Entry<T>* entries, std::int64_t n, const std::array<std::int64_t, 3>& at) const {
    for (std::int64_t i = 0; i < n; ++i) {
      values[at[1] + i * lines.steps[1]] = entries[i].value;
      indices[at[2] + i * lines.steps[2]] = entries[i].index;
    }
  }
};

}  // namespace

template <typename T>
void arg_extreme(Extreme which, const Lines<2>& lines, const T* x, std::int64_t* y) {
  const auto with = [&](auto beats) {
    for_each_line(lines, 1, [&](const std::array<std::int64_t, 2>& at) {
      const Line<T> line{x + at[0], lines.length, lines.steps[0]};
      std::int64_t found = 0;
      for_each_candidate(
          beats, line, 1, [&] { return line[found]; },
          [&](std::int64_t i) {
            if (beats(line[i], line[found])) found = i;
          });
      y[at[1]] = found;
    });
  };
  which == Extreme::maximum ? with(Larger()) : with(Smaller());
}

template <typename T>
void top_k(const Lines<3>& lines, std::int64_t k, const T* x, T* values, std::int64_t* indices) {
  if (k == 0) return;
  const Before<Larger> before;
  const Output<T> output{values, indices, lines};
  for_each_line_run(lines, 2, [&](const Run<3>& run) {
    const Scratch<Entry<T>> scratch(k);
    Entry<T>* const best = scratch.data();  // a heap with the worst of them on top
    visit_lines(lines, run, [&](const std::array<std::int64_t, 3>& at) {
      const Line<T> line{x + at[0], lines.length, lines.steps[0]};
      for (std::int64_t i = 0; i < k; ++i) best[i] = {line[i], i};
      std::make_heap(best, best + k, before);
      for_each_candidate(
          Larger(), line, k, [&] { return best[0].value; },
          [&](std::int64_t i) {
            const Entry<T> entry{line[i], i};
            if (!before(entry, best[0])) return;
            std::pop_heap(best, best + k, before);
            best[k - 1] = entry;
            std::push_heap(best, best + k, before);
          });
      std::sort_heap(best, best + k, before);
      output.write(best, k, at);
    });
  });
}

template <typename T>
void sort(const Lines<3>& lines, bool descending, const T* x, T* values, std::int64_t* indices) {
  const std::int64_t n = lines.length;
  const auto cost = 4 * static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(n)));
  const Output<T> output{values, indices, lines};
  for_each_line_run(lines, cost, [&](const Run<3>& run) {
    const Scratch<Entry<T>> scratch(n);
    Entry<T>* const entries = scratch.data();
    visit_lines(lines, run, [&](const std::array<std::int64_t, 3>& at) {
      for (std::int64_t i = 0; i < n; ++i) entries[i] = {x[at[0] + i * lines.steps[0]], i};
      if (descending) {
        std::sort(entries, entries + n, Before<Larger>());
      } else {
        std::sort(entries, entries + n, Before<Ascending>());
      }
      output.write(entries, n, at);
    });
  });
}

#define HEED_INSTANTIATE(T)                                                        \
  template void arg_extreme(Extreme, const Lines<2>&, const T*, std::int64_t*);    \
  template void top_k(const Lines<3>&, std::int64_t, const T*, T*, std::int64_t*); \
  template void sort(const Lines<3>&, bool, const T*, T*, std::int64_t*);
HEED_INSTANTIATE(float)
HEED_INSTANTIATE(double)
HEED_INSTANTIATE(std::int32_t)
HEED_INSTANTIATE(std::int64_t)
HEED_INSTANTIATE(std::uint8_t)
#undef HEED_INSTANTIATE

}  // namespace heed::kernels
