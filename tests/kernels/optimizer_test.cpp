// Update rules: float on every instruction set against the double twin, parameters of all sizes
// together, and nothing touched outside them.
#include "heed/kernels/optimizer.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "heed/base/random.h"
#include "heed/base/threads.h"
#include "heed/kernels/reference/optimizer.h"
#include "tests/support/isa_guard.h"

namespace heed::kernels {
namespace {

// Odd sizes, none, and two that span cells of the grid.
constexpr std::array<std::int64_t, 10> kSizes = {1, 7, 0, 17, 63, 65, 20000, 3, 0, 40001};

// A parameter's arrays in both precisions, with a guard element after each.
struct Arrays {
  static constexpr float kGuard = 12345.0f;
  std::array<std::vector<float>, 4> narrow;
  std::array<std::vector<double>, 4> wide;

  Arrays(std::int64_t n, std::uint64_t seed) {
    for (std::size_t k = 0; k < 4; ++k) {
      const RandomStream random{seed, k};
      for (std::int64_t i = 0; i < n; ++i) {
        const float x = random.uniform(static_cast<std::uint64_t>(i)) * 2.0f - 1.0f;
        narrow[k].push_back(k == 3 ? x * x : x);  // squares are not negative
      }
      narrow[k].push_back(kGuard);
      wide[k].assign(narrow[k].begin(), narrow[k].end());
    }
  }
};

std::vector<Arrays> make_arrays() {
  std::vector<Arrays> all;
  for (const std::int64_t n : kSizes) all.emplace_back(n, 100 + all.size());
  return all;
}

void expect_close(const std::vector<Arrays>& all) {
  for (const Arrays& a : all) {
    for (std::size_t k = 0; k < 4; ++k) {
      ASSERT_EQ(a.narrow[k].back(), Arrays::kGuard);
      for (std::size_t i = 0; i < a.narrow[k].size(); ++i) {
        ASSERT_NEAR(a.narrow[k][i], a.wide[k][i], 1e-6 * std::max(1.0, std::abs(a.wide[k][i])))
            << "array " << k << ", element " << i << " of " << a.narrow[k].size() - 1;
      }
    }
  }
}

template <typename T>
auto& arrays_of(Arrays& a) {
  if constexpr (std::is_same_v<T, float>) {
    return a.narrow;
  } else {
    return a.wide;
  }
}

// Float goes through the kernel and its grid of cells; double is the twin over each whole array.
template <typename T>
void run_adam(std::vector<Arrays>& all, const AdamRule& rule) {
  std::vector<AdamSlice<T>> slices;
  for (std::size_t k = 0; k < all.size(); ++k) {
    auto& x = arrays_of<T>(all[k]);
    const double t = static_cast<double>(k + 1);  // each parameter at a step of its own
    slices.push_back({.n = kSizes[k],
                      .value = x[0].data(),
                      .gradient = x[1].data(),
                      .mean = x[2].data(),
                      .square = x[3].data(),
                      .rate = 0.01 / (1.0 - std::pow(rule.beta1, t)),
                      .root = 1.0 / std::sqrt(1.0 - std::pow(rule.beta2, t)),
                      .keep = k % 2 == 0 ? 0.999 : 1.0,
                      .l2 = k % 2 == 0 ? 0.0 : 0.05});
  }
  if constexpr (std::is_same_v<T, float>) {
    adam(std::span<const AdamSlice<T>>(slices), rule);
  } else {
    for (const AdamSlice<T>& slice : slices) reference::adam(slice, rule, 0, slice.n);
  }
}

template <typename T>
void run_sgd(std::vector<Arrays>& all, const SgdRule& rule) {
  std::vector<SgdSlice<T>> slices;
  for (std::size_t k = 0; k < all.size(); ++k) {
    auto& x = arrays_of<T>(all[k]);
    T* const buffer = rule.momentum > 0.0 ? x[2].data() : nullptr;
    slices.push_back({kSizes[k], x[0].data(), x[1].data(), buffer, k % 2 == 0 ? 0.0 : 0.05});
  }
  if constexpr (std::is_same_v<T, float>) {
    sgd(std::span<const SgdSlice<T>>(slices), rule);
  } else {
    for (const SgdSlice<T>& slice : slices) reference::sgd(slice, rule, 0, slice.n);
  }
}

template <typename T>
void run_ema(std::vector<Arrays>& all) {
  std::vector<EmaSlice<T>> slices;
  for (std::size_t k = 0; k < all.size(); ++k) {
    auto& x = arrays_of<T>(all[k]);
    slices.push_back({kSizes[k], x[0].data(), x[1].data()});
  }
  if constexpr (std::is_same_v<T, float>) {
    ema(std::span<const EmaSlice<T>>(slices), 0.9);
  } else {
    for (const EmaSlice<T>& slice : slices) reference::ema(slice, 0.9, 0, slice.n);
  }
}

TEST(OptimizerKernels, AdamIsItsTwin) {
  const AdamRule rule{.beta1 = 0.9, .beta2 = 0.98, .epsilon = 1e-8, .gradient_scale = 0.7};
  test::for_each_isa([&](Isa) {
    std::vector<Arrays> all = make_arrays();
    for (int step = 0; step < 3; ++step) {
      run_adam<float>(all, rule);
      run_adam<double>(all, rule);
    }
    expect_close(all);
  });
}

TEST(OptimizerKernels, SgdIsItsTwin) {
  for (const SgdRule& rule :
       {SgdRule{.rate = 0.1, .momentum = 0.0, .gradient_scale = 0.7, .nesterov = false},
        SgdRule{.rate = 0.1, .momentum = 0.9, .gradient_scale = 0.7, .nesterov = false},
        SgdRule{.rate = 0.1, .momentum = 0.9, .gradient_scale = 0.7, .nesterov = true}}) {
    test::for_each_isa([&](Isa) {
      std::vector<Arrays> all = make_arrays();
      for (int step = 0; step < 3; ++step) {
        run_sgd<float>(all, rule);
        run_sgd<double>(all, rule);
      }
      expect_close(all);
    });
  }
}

TEST(OptimizerKernels, EmaIsItsTwin) {
  test::for_each_isa([](Isa) {
    std::vector<Arrays> all = make_arrays();
    run_ema<float>(all);
    run_ema<double>(all);
    expect_close(all);
  });
}

TEST(OptimizerKernels, DoubleGoesThroughTheSameGrid) {
  constexpr std::int64_t kCount = 40001;
  std::vector<double> average(kCount, 2.0), value(kCount, 1.0), buffer(kCount, 1.0);
  const EmaSlice<double> ema_slice{kCount, average.data(), value.data()};
  ema(std::span(&ema_slice, 1), 0.5);
  EXPECT_EQ(average, std::vector<double>(kCount, 1.5));
  const SgdSlice<double> sgd_slice{kCount, average.data(), value.data(), buffer.data(), 0.0};
  sgd(std::span(&sgd_slice, 1),
      {.rate = 0.25, .momentum = 1.0, .gradient_scale = 1.0, .nesterov = false});
  EXPECT_EQ(average, std::vector<double>(kCount, 1.0));
}

TEST(OptimizerKernels, OneAdamStepByHand) {
  double value = 2.0, gradient = 3.0, mean = 0.5, square = 4.0;
  const AdamSlice<double> slice{1, &value, &gradient, &mean, &square, 0.1, 2.0, 0.9, 0.25};
  adam(std::span(&slice, 1), {.beta1 = 0.5, .beta2 = 0.75, .epsilon = 1.0, .gradient_scale = 0.5});
  // g = 0.5 * 3 + 0.25 * 2 = 2, mean = 0.25 + 1, square = 3 + 1, size = 2 * 2 + 1
  EXPECT_DOUBLE_EQ(mean, 1.25);
  EXPECT_DOUBLE_EQ(square, 4.0);
  EXPECT_DOUBLE_EQ(value, 0.9 * 2.0 - 0.1 * 1.25 / 5.0);
}

TEST(OptimizerKernels, ThreadsChangeNoBits) {
  const AdamRule rule{.beta1 = 0.9, .beta2 = 0.98, .epsilon = 1e-8, .gradient_scale = 0.7};
  const int before = num_threads();
  set_num_threads(1);
  std::vector<Arrays> one = make_arrays();
  run_adam<float>(one, rule);
  for (const int threads : {2, 3}) {
    set_num_threads(threads);
    std::vector<Arrays> many = make_arrays();
    run_adam<float>(many, rule);
    for (std::size_t k = 0; k < one.size(); ++k) EXPECT_EQ(one[k].narrow, many[k].narrow);
  }
  set_num_threads(before);
}

TEST(OptimizerKernels, NothingToDo) {
  adam(std::span<const AdamSlice<float>>(), {0.9, 0.98, 1e-8, 1.0});
  sgd(std::span<const SgdSlice<float>>(), {0.1, 0.0, 1.0, false});
  ema(std::span<const EmaSlice<float>>(), 0.9);
}

}  // namespace
}  // namespace heed::kernels
