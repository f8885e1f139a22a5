// Products with packed matrices: against the plain twin on every instruction set, and bits that do
// not depend on other rows, threads or, but for f32, on the instruction set.
#include "heed/kernels/packed/product.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "heed/base/threads.h"
#include "heed/kernels/reference/packed.h"
#include "tests/kernels/packed/packed_trial.h"
#include "tests/support/values.h"

namespace heed::kernels {
namespace {

using heed::test::guarded;
using heed::test::kGuard;
using heed::test::random_floats;
using test::for_each_way;
using test::kForms;
using test::OwnedMatrix;

// x [rows, in], bias [out] and a residual [rows, out] for a matrix [out, in].
struct Trial {
  Trial(std::int64_t rows_, std::int64_t out, std::int64_t in)
      : rows(rows_),
        x(random_floats(rows_ * in, 1)),
        bias(random_floats(out, 2)),
        residual(random_floats(rows_ * out, 3)),
        weights(random_floats(out * in, 4, 1.0f / std::sqrt(static_cast<float>(in)))) {}

  PackedProduct call(const OwnedMatrix& matrix, float* y) const {
    const PackedMatrix weight = matrix.matrix();
    return {.rows = rows,
            .x = x.data(),
            .x_stride = weight.in,
            .weight = weight,
            .y = y,
            .y_stride = weight.out,
            .residual_stride = weight.out};
  }

  std::int64_t rows;
  std::vector<float> x, bias, residual, weights;
};

std::vector<float> result_of(const Trial& trial, const OwnedMatrix& matrix) {
  std::vector<float> y(static_cast<std::size_t>(trial.rows * matrix.matrix().out));
  packed_product(trial.call(matrix, y.data()));
  return y;
}

std::vector<double> twin_of(const PackedProduct& call) {
  std::vector<double> y(static_cast<std::size_t>(call.rows * call.weight.out));
  reference::packed_product(call, y.data());
  return y;
}

std::vector<std::uint32_t> bits_of(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits;
  for (const float v : values) bits.push_back(std::bit_cast<std::uint32_t>(v));
  return bits;
}

// An output is one chain of sums, whose rounding errors grow with its length.
double tolerance_of(PackedForm form, std::int64_t in) {
  const bool is_exact = form == PackedForm::int8 || form == PackedForm::int4;
  return is_exact ? 0.0 : 3e-6 * std::sqrt(1.0 + static_cast<double>(in) / 64.0);
}

TEST(PackedProduct, EqualsItsTwinForOddSizes) {
  for (const std::int64_t out : {1, 15, 16, 17, 77}) {
    for (const std::int64_t in : {1, 3, 4, 5, 51, 1024, 1030, 2500}) {
      for (const std::int64_t rows : {0, 1, 2, 5, 6, 7, 97}) {
        if (rows * out * in > 200'000 && (rows != 97 || out != 17)) continue;
        const Trial trial(rows, out, in);
        for (const PackedForm form : kForms) {
          const OwnedMatrix matrix(form, out, in, trial.weights);
          std::vector<float> y = guarded(rows * out);
          const PackedProduct call = trial.call(matrix, y.data());
          const std::vector<double> expected = twin_of(call);
          for_each_way([&](const std::string& way) {
            std::fill(y.begin(), y.end(), kGuard);
            packed_product(call);
            const std::string what =
                fmt::format("{} {}x{} rows {} {}", name_of(form), out, in, rows, way);
            heed::test::expect_close(y, expected, tolerance_of(form, in), what);
          });
        }
      }
    }
  }
}

TEST(PackedProduct, OfBlocksEqualsItsTwin) {
  for (const test::GgufForm& form : test::kGgufForms) {
    for (const std::int64_t out : {1, 17, 77}) {
      for (const std::int64_t in : {256, 768}) {
        const OwnedMatrix matrix(form, out, in, test::random_gguf(form.type, out, in, 7));
        for (const std::int64_t rows : {1, 2, 3, 4, 5, 19}) {
          const Trial trial(rows, out, in);
          std::vector<float> y = guarded(rows * out);
          const PackedProduct call = trial.call(matrix, y.data());
          const std::vector<double> expected = twin_of(call);
          for_each_way([&](const std::string& way) {
            std::fill(y.begin(), y.end(), kGuard);
            packed_product(call);
            heed::test::expect_close(
                y, expected, 0.0,
                fmt::format("{} {}x{} rows {} {}", io::info(form.type).name, out, in, rows, way));
          });
        }
      }
    }
  }
}

// All products have the greatest magnitude, of one sign: sums of pairs use 16 bits to the limit.
TEST(PackedProduct, TheLargestSumsOfBlocksAreExact) {
  for (const test::GgufForm& form : test::kGgufForms) {
    for (const int q : {0, (1 << form.blocks.bits) - 1}) {
      const OwnedMatrix matrix(PackedForm::int4, 1, 256, form.blocks);
      pack_blocks(
          [&](std::int64_t, BlockRow& to) {
            std::ranges::fill(to.q, static_cast<std::uint8_t>(q));
            std::ranges::fill(to.scales, std::uint16_t{0x3c00});  // 1
            std::ranges::fill(to.byte_scales, std::uint8_t{1});
          },
          matrix.target());
      const int zero = form.blocks.scales == BlockScales::centred ? 1 << (form.blocks.bits - 1) : 0;
      for (const float sign : {1.0f, -1.0f}) {
        const std::vector<float> x(256, 127.0f * sign);
        for_each_way([&](const std::string& way) {
          float y = 0.0f;
          packed_product({.rows = 1,
                          .x = x.data(),
                          .x_stride = 256,
                          .weight = matrix.matrix(),
                          .y = &y,
                          .y_stride = 1});
          EXPECT_EQ(y, sign * 256.0f * 127.0f * static_cast<float>(q - zero))
              << io::info(form.type).name << " " << way;
        });
      }
    }
  }
}

TEST(PackedProduct, OfNoColumnsIsTheBias) {
  const Trial trial(3, 17, 0);
  for (const PackedForm form : kForms) {
    const OwnedMatrix matrix(form, 17, 0);
    pack(trial.weights.data(), 0, matrix.target());
    for_each_way([&](const std::string& way) {
      std::vector<float> y = guarded(3 * 17);
      PackedProduct call = trial.call(matrix, y.data());
      call.bias = trial.bias.data();
      packed_product(call);
      heed::test::expect_close(y, twin_of(call), 0.0, fmt::format("{} {}", name_of(form), way));
    });
  }
}

TEST(PackedProduct, AddsBiasAndResidualAndActivates) {
  const std::optional<Unary> activations[] = {
      {}, Unary::relu, Unary::gelu, Unary::tanh, Unary::silu};
  for (const auto& [rows, out, in] :
       std::initializer_list<std::array<std::int64_t, 3>>{{1, 77, 51}, {7, 17, 5}, {97, 33, 64}}) {
    const Trial trial(rows, out, in);
    for (const PackedForm form : kForms) {
      const OwnedMatrix matrix(form, out, in, trial.weights);
      for (const auto& activation : activations) {
        for (int choice = 0; choice < 4; ++choice) {
          std::vector<float> y = guarded(rows * out);
          PackedProduct call = trial.call(matrix, y.data());
          call.activation = activation;
          if (choice & 1) call.bias = trial.bias.data();
          if (choice & 2) call.residual = trial.residual.data();
          const std::vector<double> expected = twin_of(call);
          for_each_way([&](const std::string& way) {
            std::fill(y.begin(), y.end(), kGuard);
            packed_product(call);
            heed::test::expect_close(y, expected, 4e-6,
                                     fmt::format("{} choice {} {}", name_of(form), choice, way));
          });
        }
      }
    }
  }
}

TEST(PackedProduct, TheResidualMayBeTheResult) {
  const std::int64_t rows = 7, out = 77, in = 51;
  const Trial trial(rows, out, in);
  for (const PackedForm form : kForms) {
    const OwnedMatrix matrix(form, out, in, trial.weights);
    for_each_way([&](const std::string& way) {
      std::vector<float> y = trial.residual;
      y.push_back(kGuard);
      PackedProduct call = trial.call(matrix, y.data());
      call.bias = trial.bias.data();
      call.residual = y.data();
      const std::vector<double> expected = twin_of(call);
      packed_product(call);
      heed::test::expect_close(y, expected, 4e-6, fmt::format("{} {}", name_of(form), way));
    });
  }
}

TEST(PackedProduct, ReadsAndWritesRowsThatAreApart) {
  const std::int64_t rows = 7, out = 17, in = 51, x_stride = 60, y_stride = 23,
                     residual_stride = 19;
  const Trial trial(rows, out, in);
  const std::vector<float> x = random_floats(rows * x_stride, 5);
  const std::vector<float> residual = random_floats(rows * residual_stride, 6);
  for (const PackedForm form : kForms) {
    const OwnedMatrix matrix(form, out, in, trial.weights);
    for_each_way([&](const std::string& way) {
      std::vector<float> y(static_cast<std::size_t>(rows * y_stride), kGuard);
      const PackedProduct call{.rows = rows,
                               .x = x.data(),
                               .x_stride = x_stride,
                               .weight = matrix.matrix(),
                               .y = y.data(),
                               .y_stride = y_stride,
                               .bias = trial.bias.data(),
                               .activation = Unary::relu,
                               .residual = residual.data(),
                               .residual_stride = residual_stride};
      const std::vector<double> expected = twin_of(call);
      packed_product(call);
      for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t i = 0; i < y_stride; ++i) {
          const float value = y[static_cast<std::size_t>(r * y_stride + i)];
          if (i >= out) {
            ASSERT_EQ(value, kGuard) << way << ": wrote between the rows";
          } else {
            ASSERT_NEAR(value, expected[static_cast<std::size_t>(r * out + i)], 1e-5) << way;
          }
        }
      }
    });
  }
}

TEST(PartialProduct, PartsAreThoseOfTheWhole) {
  const std::int64_t rows = 9, out = 77, in = 51, stride = 40;
  const Trial trial(rows, out, in);
  const std::optional<Unary> activations[] = {{}, Unary::gelu};
  for (const PackedForm form : kForms) {
    const OwnedMatrix matrix(form, out, in, trial.weights);
    for (const auto& activation : activations) {
      for_each_way([&](const std::string& way) {
        std::vector<float> whole(static_cast<std::size_t>(rows * out));
        PackedProduct call = trial.call(matrix, whole.data());
        call.bias = trial.bias.data();
        call.residual = trial.residual.data();
        call.activation = activation;
        packed_product(call);
        const PartialProduct product(call);
        for (const ProductPart& part : {ProductPart{0, 9, 0, 2}, {2, 7, 1, 3}, {8, 9, 4, 5}}) {
          std::vector<float> y(static_cast<std::size_t>(rows * stride), kGuard);
          product.run(part, y.data(), stride);
          const std::int64_t first = part.panel_begin * kPanelRows;
          const std::int64_t wide = std::min(part.panel_end * kPanelRows, out) - first;
          for (std::int64_t i = 0; i < rows * stride; ++i) {
            const std::int64_t row = part.row_begin + i / stride, column = i % stride;
            const bool is_inside = row < part.row_end && column < wide;
            const float expected =
                is_inside ? whole[static_cast<std::size_t>(row * out + first + column)] : kGuard;
            ASSERT_EQ(y[static_cast<std::size_t>(i)], expected)
                << name_of(form) << " " << way << " row " << row << " column " << column;
          }
        }
      });
    }
  }
}

// ---- bits ---------------------------------------------------------------------------------------

TEST(PackedProduct, RoundedNumbersHaveTheSameBitsOnEveryInstructionSet) {
  const Trial trial(9, 77, 1031);
  for (const PackedForm form : {PackedForm::bf16, PackedForm::int8, PackedForm::int4}) {
    const OwnedMatrix matrix(form, 77, 1031, trial.weights);
    std::optional<std::vector<std::uint32_t>> first;
    for_each_way([&](const std::string& way) {
      std::vector<float> y(9 * 77);
      PackedProduct call = trial.call(matrix, y.data());
      call.bias = trial.bias.data();
      call.residual = trial.residual.data();
      packed_product(call);
      if (!first) first = bits_of(y);
      EXPECT_EQ(bits_of(y), *first) << name_of(form) << " " << way;
    });
  }
}

TEST(PackedProduct, TheLargestSumsAreExact) {
  // All products have the greatest magnitude, of one sign: sums of pairs use 16 bits to the limit.
  const std::int64_t in = 4096;
  const auto size = static_cast<std::size_t>(in);
  std::vector<float> weights(2 * size, -1.0f);
  std::fill_n(weights.begin(), size, 1.0f);
  const OwnedMatrix matrix(PackedForm::int8, 2, in, weights);
  for (const float sign : {1.0f, -1.0f}) {
    const std::vector<float> x(size, sign);
    for_each_way([&](const std::string& way) {
      float y[2];
      packed_product({.rows = 1,
                      .x = x.data(),
                      .x_stride = in,
                      .weight = matrix.matrix(),
                      .y = y,
                      .y_stride = 2});
      const float scale = 1.0f / 126.0f * (1.0f / 127.0f);
      float expected = 0.0f;  // 64 columns at a time
      for (int i = 0; i < 64; ++i) expected += sign * 64.0f * 126.0f * 127.0f * scale;
      EXPECT_EQ(y[0], expected) << way;
      EXPECT_EQ(y[1], -y[0]) << way;
    });
  }
}

TEST(PackedProduct, ARowDoesNotDependOnTheOthers) {
  const std::int64_t rows = 97;
  for (const auto& [out, in] : {std::pair<std::int64_t, std::int64_t>{77, 51}, {200, 1030}}) {
    const Trial trial(rows, out, in);
    for (const PackedForm form : kForms) {
      const OwnedMatrix matrix(form, out, in, trial.weights);
      for_each_way([&](const std::string& way) {
        const std::vector<float> all = result_of(trial, matrix);
        for (const std::int64_t count : {1, 2, 5, 6, 7}) {
          for (const std::int64_t first : {0, 50, 90}) {
            std::vector<float> y(static_cast<std::size_t>(count * out));
            PackedProduct call = trial.call(matrix, y.data());
            call.rows = count;
            call.x += first * in;
            packed_product(call);
            const std::vector<float> part(all.begin() + first * out,
                                          all.begin() + (first + count) * out);
            ASSERT_EQ(bits_of(y), bits_of(part))
                << name_of(form) << " " << way << ", " << count << " rows from " << first;
          }
        }
      });
    }
  }
}

TEST(PackedProduct, ThreadsDoNotChangeTheResult) {
  const Trial trial(97, 400, 300);
  const int before = num_threads();
  for (const PackedForm form : kForms) {
    const OwnedMatrix matrix(form, 400, 300, trial.weights);
    set_num_threads(1);
    const std::vector<float> one = result_of(trial, matrix);
    set_num_threads(3);
    const std::vector<float> three = result_of(trial, matrix);
    set_num_threads(before);
    EXPECT_EQ(bits_of(one), bits_of(three)) << name_of(form);
  }
}

// ---- numbers that are not usual -----------------------------------------------------------------

TEST(PackedProduct, NanAndInfinityStayInTheirRow) {
  const std::int64_t rows = 7, out = 17, in = 51;
  for (const PackedForm form : kForms) {
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      Trial trial(rows, out, in);
      trial.x[static_cast<std::size_t>(3 * in + 20)] = bad;
      const OwnedMatrix matrix(form, out, in, trial.weights);
      for_each_way([&](const std::string& way) {
        const std::vector<float> y = result_of(trial, matrix);
        for (std::size_t i = 0; i < y.size(); ++i) {
          ASSERT_EQ(!std::isfinite(y[i]), i / 17 == 3)
              << name_of(form) << " " << way << " at " << i;
        }
      });
    }
  }
}

TEST(PackedProduct, NanOfAWeightStaysInItsColumn) {
  Trial trial(3, 17, 51);
  trial.weights[5 * 51 + 7] = std::numeric_limits<float>::quiet_NaN();
  for (const PackedForm form : kForms) {
    const OwnedMatrix matrix(form, 17, 51, trial.weights);
    for_each_way([&](const std::string& way) {
      const std::vector<float> y = result_of(trial, matrix);
      for (std::size_t i = 0; i < y.size(); ++i) {
        ASSERT_EQ(std::isnan(y[i]), i % 17 == 5) << name_of(form) << " " << way;
      }
    });
  }
}

TEST(PackedProduct, ZerosAndTinyRows) {
  Trial trial(3, 17, 51);
  std::fill_n(trial.x.begin(), 51, 0.0f);
  for (std::size_t i = 51; i < 102; ++i) trial.x[i] *= 1e-38f;
  std::fill_n(trial.weights.begin() + 51, 51, 0.0f);
  for (const PackedForm form : kForms) {
    const OwnedMatrix matrix(form, 17, 51, trial.weights);
    for_each_way([&](const std::string& way) {
      const std::vector<float> y = result_of(trial, matrix);
      for (std::size_t i = 0; i < y.size(); ++i) {
        if (i < 17 || i % 17 == 1) {
          ASSERT_EQ(y[i], 0.0f) << name_of(form) << " " << way;
        }
        ASSERT_LE(std::abs(y[i]), i < 34 ? 1e-37f : 10.0f) << name_of(form) << " " << way;
      }
    });
  }
}

}  // namespace
}  // namespace heed::kernels
