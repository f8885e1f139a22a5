// Pooling against the definition, window by window.
#include "heed/kernels/pool.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/values.h"

namespace heed::kernels::pool_test {
namespace {

using test::as_doubles;
using test::random_floats;

const PoolShape kShapes[] = {
    {3, {{}, {17, 3, 2, 1}}}, {2, {{5, 2, 2}, {6, 3, 3}}}, {2, {{7, 3, 1, 1}, {9, 4, 2, 2}}},
    {1, {{1, 1}, {1, 1}}},    {0, {{5, 2, 2}, {6, 3, 3}}},
};

// Calls f(output, inputs of its window) for every output of a plane, by the definition.
template <typename F>
void for_each_window(const Window& w, const F& f) {
  for (std::int64_t o = 0; o < w.outputs(); ++o) {
    std::vector<std::int64_t> inputs;
    for (std::int64_t tap = 0; tap < w.taps(); ++tap) {
      const auto row = w.rows.input(o / w.columns.outputs(), tap / w.columns.kernel);
      const auto column = w.columns.input(o % w.columns.outputs(), tap % w.columns.kernel);
      if (row < 0 || row >= w.rows.size || column < 0 || column >= w.columns.size) continue;
      inputs.push_back(row * w.columns.size + column);
    }
    f(o, inputs);
  }
}

TEST(MaxPool, ByTheDefinition) {
  for (const PoolShape& s : kShapes) {
    const Window& w = s.window;
    const auto x = random_floats(s.planes * w.inputs(), 1);
    const auto dy = random_floats(s.planes * w.outputs(), 2);
    std::vector<float> y(dy.size(), NAN), dx(x.size(), NAN), expected(x.size(), 0.0f);
    std::vector<std::int32_t> chosen(dy.size(), -7);
    max_pool(s, x.data(), y.data(), chosen.data());
    max_pool_backward(s, dy.data(), chosen.data(), dx.data());
    for (std::int64_t p = 0; p < s.planes; ++p) {
      for_each_window(w, [&](std::int64_t o, const std::vector<std::int64_t>& inputs) {
        const auto at = static_cast<std::size_t>(p * w.outputs() + o);
        std::int64_t best = inputs.front();
        const float* const plane = x.data() + p * w.inputs();
        for (const std::int64_t i : inputs) best = plane[i] > plane[best] ? i : best;
        EXPECT_EQ(chosen[at], best);
        EXPECT_EQ(y[at], plane[best]);
        expected[static_cast<std::size_t>(p * w.inputs() + best)] += dy[at];
      });
    }
    EXPECT_EQ(dx, expected);
  }
}

TEST(AveragePool, ByTheDefinition) {
  for (const PoolShape& s : kShapes) {
    for (const PoolCount count : {PoolCount::window, PoolCount::inside}) {
      const Window& w = s.window;
      const auto x = as_doubles(random_floats(s.planes * w.inputs(), 1));
      const auto dy = as_doubles(random_floats(s.planes * w.outputs(), 2));
      std::vector<double> y(dy.size(), NAN), dx(x.size(), NAN), expected(x.size(), 0.0);
      average_pool(s, count, x.data(), y.data());
      average_pool_backward(s, count, dy.data(), dx.data());
      for (std::int64_t p = 0; p < s.planes; ++p) {
        for_each_window(w, [&](std::int64_t o, const std::vector<std::int64_t>& inputs) {
          const auto at = static_cast<std::size_t>(p * w.outputs() + o);
          const auto n = count == PoolCount::window ? static_cast<double>(w.taps())
                                                    : static_cast<double>(inputs.size());
          double sum = 0.0;
          for (const std::int64_t i : inputs) {
            sum += x[static_cast<std::size_t>(p * w.inputs() + i)];
            expected[static_cast<std::size_t>(p * w.inputs() + i)] += dy[at] / n;
          }
          EXPECT_NEAR(y[at], sum / n, 1e-12);
        });
      }
      for (std::size_t i = 0; i < dx.size(); ++i) EXPECT_NEAR(dx[i], expected[i], 1e-12);
    }
  }
}

}  // namespace
}  // namespace heed::kernels::pool_test
