#include "heed/kernels/scan.h"

#include <algorithm>
#include <cstdlib>
#include <type_traits>

namespace heed::kernels {

template <typename T>
void cumulative_sum(const Lines<2>& lines, Direction direction, const T* x, T* y) {
  using Sum = std::conditional_t<std::is_floating_point_v<T>, double, T>;
  // Neighbouring lines are summed side by side if that reads memory in order.
  constexpr std::int64_t kTogether = 64;
  const std::int64_t width = std::abs(lines.steps[0]) <= std::abs(lines.across[0]) ? 1 : kTogether;
  const std::int64_t first = direction == Direction::forward ? 0 : lines.length - 1;
  const std::int64_t sign = direction == Direction::forward ? 1 : -1;
  for_each_line_run(lines, 2, [&](const Run<2>& run) {
    for (std::int64_t at = 0; at < run.length; at += width) {
      const std::int64_t n = std::min(width, run.length - at);
      Sum sums[kTogether] = {};
      const T* in = x + run.at[0] + at * lines.across[0] + first * lines.steps[0];
      T* out = y + run.at[1] + at * lines.across[1] + first * lines.steps[1];
      for (std::int64_t k = 0; k < lines.length; ++k) {
        const std::int64_t from = sign * k * lines.steps[0];
        const std::int64_t to = sign * k * lines.steps[1];
        for (std::int64_t i = 0; i < n; ++i) {
          sums[i] += in[from + i * lines.across[0]];
          out[to + i * lines.across[1]] = static_cast<T>(sums[i]);
        }
      }
    }
  });
}

template void cumulative_sum(const Lines<2>&, Direction, const float*, float*);
template void cumulative_sum(const Lines<2>&, Direction, const double*, double*);
template void cumulative_sum(const Lines<2>&, Direction, const std::int32_t*, std::int32_t*);
template void cumulative_sum(const Lines<2>&, Direction, const std::int64_t*, std::int64_t*);

}  // namespace heed::kernels
