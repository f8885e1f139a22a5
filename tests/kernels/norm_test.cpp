// Norm kernels against their twins on every instruction set and around every vector length.
#include "heed/kernels/norm.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <tuple>

#include "heed/base/arena.h"
#include "tests/support/isa_guard.h"
#include "tests/support/values.h"

namespace heed::kernels {
namespace {

using test::as_doubles;
using test::expect_close;
using test::random_floats;

// All operands of both passes in one precision.
template <typename T>
struct Operands {
  std::vector<T> x, residual, weight, bias, dy, dsum;
  std::vector<T> sum, y, mean, rstd, dx, dweight, dbias;
};

Operands<float> random_operands(Rows rows) {
  const std::int64_t n = rows.count * rows.width;
  return {.x = random_floats(n, 0),
          .residual = random_floats(n, 1),
          .weight = random_floats(rows.width, 2),
          .bias = random_floats(rows.width, 3),
          .dy = random_floats(n, 4),
          .dsum = random_floats(n, 5),
          .sum = test::guarded(n),
          .y = test::guarded(n),
          .mean = test::guarded(rows.count),
          .rstd = test::guarded(rows.count),
          .dx = test::guarded(n),
          .dweight = test::guarded(rows.width),
          .dbias = test::guarded(rows.width)};
}

Operands<double> twin_of(const Operands<float>& o) {
  const auto room = [](const std::vector<float>& v) { return std::vector<double>(v.size() - 1); };
  return {.x = as_doubles(o.x),
          .residual = as_doubles(o.residual),
          .weight = as_doubles(o.weight),
          .bias = as_doubles(o.bias),
          .dy = as_doubles(o.dy),
          .dsum = as_doubles(o.dsum),
          .sum = room(o.sum),
          .y = room(o.y),
          .mean = room(o.mean),
          .rstd = room(o.rstd),
          .dx = room(o.dx),
          .dweight = room(o.dweight),
          .dbias = room(o.dbias)};
}

template <typename T>
void run(Norm kind, Rows rows, Operands<T>& o) {
  norm(kind, NormForward<T>{rows, 1e-5, o.x.data(), o.residual.data(), o.weight.data(),
                            o.bias.data(), o.sum.data(), o.y.data(), o.mean.data(), o.rstd.data()});
  norm_backward(kind, NormBackward<T>{rows, o.sum.data(), o.weight.data(), o.mean.data(),
                                      o.rstd.data(), o.dy.data(), o.dsum.data(), o.dx.data(),
                                      o.dweight.data(), o.dbias.data()});
}

void compare(Norm kind, Rows rows, const std::string& what) {
  Operands<float> o = random_operands(rows);
  Operands<double> twin = twin_of(o);
  run(kind, rows, o);
  run(kind, rows, twin);
  expect_close(o.sum, twin.sum, 1e-7, what + ": sum");
  expect_close(o.y, twin.y, 1e-5, what + ": y");
  expect_close(o.mean, twin.mean, 1e-6, what + ": mean");
  expect_close(o.rstd, twin.rstd, 1e-5, what + ": rstd");
  expect_close(o.dx, twin.dx, 5e-5, what + ": dx");
  expect_close(o.dweight, twin.dweight, 2e-5, what + ": dweight");
  expect_close(o.dbias, twin.dbias, 2e-5, what + ": dbias");
}

TEST(NormKernel, EqualsItsTwin) {
  for (const Norm kind : {Norm::layer, Norm::rms}) {
    test::for_each_isa([&](Isa isa) {
      const std::string name =
          fmt::format("{} {}", kind == Norm::layer ? "layer" : "rms", name_of(isa));
      for (std::int64_t width = 2; width <= 70; ++width) {
        compare(kind, {5, width}, fmt::format("{} width {}", name, width));
      }
      // Several chunks of rows, the last one short.
      compare(kind, {137, 900}, name + " chunks");
    });
  }
}

TEST(NormKernel, NoRowsGiveZeroParameterGradients) {
  Operands<float> o = random_operands({0, 9});
  run(Norm::layer, {0, 9}, o);
  expect_close(o.dweight, std::vector<double>(9, 0.0), 0.0, "dweight");
  expect_close(o.dbias, std::vector<double>(9, 0.0), 0.0, "dbias");
}

TEST(NormKernel, RowsBeyondTheCachesAreTheSame) {
  // 50 MiB of rows are written past the caches, the first 64 of them alone are not.
  const Rows all{25'600, 512}, few{64, 512};
  const std::int64_t n = all.count * all.width;
  const Scratch<float> x(n), dy(n), y(n), dx(n), mean(all.count), rstd(all.count);
  const Scratch<float> y_few(64 * 512), dx_few(64 * 512);
  for (std::int64_t i = 0; i < n; ++i) {
    x[i] = static_cast<float>(i % 1013) * 0.01f;
    dy[i] = static_cast<float>(i % 997) * 0.01f - 3.0f;
  }
  test::for_each_isa([&](Isa isa) {
    for (const auto& [rows, out, d_out] :
         {std::tuple{all, y.data(), dx.data()}, {few, y_few.data(), dx_few.data()}}) {
      norm(Norm::layer, NormForward<float>{rows, 1e-5, x.data(), nullptr, nullptr, nullptr, nullptr,
                                           out, mean.data(), rstd.data()});
      norm_backward(Norm::layer,
                    NormBackward<float>{rows, x.data(), nullptr, mean.data(), rstd.data(),
                                        dy.data(), nullptr, d_out, nullptr, nullptr});
    }
    EXPECT_EQ(std::memcmp(y.data(), y_few.data(), 64 * 512 * sizeof(float)), 0) << name_of(isa);
    EXPECT_EQ(std::memcmp(dx.data(), dx_few.data(), 64 * 512 * sizeof(float)), 0) << name_of(isa);
  });
}

}  // namespace
}  // namespace heed::kernels
