// The kernels of batch normalisation against the plain version, on every instruction set.
#include "heed/kernels/batch_norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "heed/base/random.h"
#include "tests/support/isa_guard.h"

namespace heed::batch_norm_kernel_test {
namespace {

using kernels::ChannelShape;
using test::IsaGuard;

std::vector<double> draw(std::int64_t n, std::uint64_t stream, double offset) {
  std::vector<double> values;
  const RandomStream random{1, stream};
  for (std::int64_t i = 0; i < n; ++i) {
    values.push_back(static_cast<float>(offset + random.normal(static_cast<std::uint64_t>(i))));
  }
  return values;
}

std::vector<float> narrow(const std::vector<double>& x) { return {x.begin(), x.end()}; }

void expect_near(const std::vector<float>& found, const std::vector<double>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(found[i], expected[i], 2e-5 * std::max(1.0, std::abs(expected[i]))) << i;
  }
}

// Everything that the kernels compute of one input.
template <typename T>
struct Results {
  std::vector<T> mean, variance, y, dx, dweight, dbias, dadd;
};

template <typename T>
Results<T> run(const ChannelShape& s, const std::vector<T>& x, const std::vector<T>& dy,
               const std::vector<T>& weight, bool own_statistics, const std::vector<T>& add = {},
               bool relu = false) {
  const auto channels = static_cast<std::size_t>(s.channels);
  Results<T> r{.mean = std::vector<T>(channels),
               .variance = std::vector<T>(channels),
               .y = std::vector<T>(x.size()),
               .dx = std::vector<T>(x.size()),
               .dweight = std::vector<T>(channels),
               .dbias = std::vector<T>(channels),
               .dadd = std::vector<T>(add.size())};
  kernels::channel_moments(s, x.data(), r.mean.data(), r.variance.data());
  std::vector<T> rstd;
  for (const T v : r.variance) rstd.push_back(T{1} / std::sqrt(v + static_cast<T>(1e-5)));
  kernels::batch_norm(kernels::BatchNormForward<T>{.shape = s,
                                                   .x = x.data(),
                                                   .mean = r.mean.data(),
                                                   .rstd = rstd.data(),
                                                   .weight = weight.data(),
                                                   .bias = nullptr,
                                                   .y = r.y.data(),
                                                   .add = add.empty() ? nullptr : add.data(),
                                                   .relu = relu});
  kernels::batch_norm_backward(
      kernels::BatchNormBackward<T>{.shape = s,
                                    .own_statistics = own_statistics,
                                    .x = x.data(),
                                    .mean = r.mean.data(),
                                    .rstd = rstd.data(),
                                    .weight = weight.data(),
                                    .dy = dy.data(),
                                    .dx = r.dx.data(),
                                    .dweight = r.dweight.data(),
                                    .dbias = r.dbias.data(),
                                    .relu_y = relu ? r.y.data() : nullptr,
                                    .dadd = add.empty() ? nullptr : r.dadd.data()});
  return r;
}

TEST(BatchNormKernel, AgreesWithThePlainVersion) {
  for (const Isa isa : test::tested_isas()) {
    const IsaGuard guard(isa);
    for (const ChannelShape& s : {ChannelShape{1, 1, 7}, ChannelShape{3, 2, 17},
                                  ChannelShape{5, 3, 64}, ChannelShape{2, 4, 65}}) {
      const std::int64_t n = s.batch * s.channels * s.places;
      const std::vector<double> x = draw(n, 1, 0.7), dy = draw(n, 2, 0.1);
      const std::vector<double> weight = draw(s.channels, 3, 1.0);
      for (const bool own : {false, true}) {
        for (const bool relu : {false, true}) {
          for (const std::vector<double>& add : {std::vector<double>(), draw(n, 4, 0.2)}) {
            const Results<double> plain = run(s, x, dy, weight, own, add, relu);
            const Results<float> fast =
                run(s, narrow(x), narrow(dy), narrow(weight), own, narrow(add), relu);
            expect_near(fast.mean, plain.mean);
            expect_near(fast.variance, plain.variance);
            expect_near(fast.y, plain.y);
            expect_near(fast.dx, plain.dx);
            expect_near(fast.dweight, plain.dweight);
            expect_near(fast.dbias, plain.dbias);
            expect_near(fast.dadd, plain.dadd);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace heed::batch_norm_kernel_test
