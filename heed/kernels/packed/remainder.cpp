#include "heed/kernels/packed/remainder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "heed/base/arena.h"
#include "heed/base/threads.h"
#include "heed/kernels/packed/pack.h"

namespace heed::kernels {
namespace {

// Sums side by side, which a compiler turns into vectors.
constexpr std::int64_t kSums = 16;

// The integers of a row, filled up to whole column groups.
void read_integers(const PackedMatrix& matrix, std::int64_t row, std::int8_t* to) {
  const std::byte* from = matrix.data + row / kPanelRows * panel_bytes(matrix.form, matrix.in) +
                          row % kPanelRows * kColumnGroup;
  for (std::int64_t i = 0; i < matrix.in; i += kColumnGroup) {
    std::memcpy(to + i, from, kColumnGroup);
    from += kPanelRows * kColumnGroup;
  }
}

// x times 254 integer + remainder, over n columns that share a scale.
float group_product(const float* x, const std::int8_t* integers, const std::int8_t* remainders,
                    std::int64_t n) {
  std::array<float, kSums> sums{};
  const auto add = [&](std::int64_t i, std::int64_t j) {
    const int weight = kRemainderSteps * integers[i + j] + remainders[i + j];
    sums[static_cast<std::size_t>(j)] += x[i + j] * static_cast<float>(weight);
  };
  std::int64_t i = 0;
  for (; i + kSums <= n; i += kSums) {
    for (std::int64_t j = 0; j < kSums; ++j) add(i, j);
  }
  for (std::int64_t j = 0; j < n - i; ++j) add(i, j);
  for (std::size_t half = kSums / 2; half > 0; half /= 2) {
    for (std::size_t j = 0; j < half; ++j) sums[j] += sums[j + half];
  }
  return sums[0];
}

}  // namespace

void find_remainders(const float* matrix, std::int64_t stride, const PackedMatrix& packed,
                     std::int8_t* to) {
  const std::int64_t in = packed.in;
  parallel_for(packed.out, 4 * in, [&](std::int64_t row) {
    const Scratch<std::int8_t> integers(padded_in(packed.form, in));
    const Scratch<float> scales(scale_groups(in));
    read_integers(packed, row, integers.data());
    unpack_scales(packed, row, scales.data());
    for (std::int64_t i = 0; i < in; ++i) {
      const float scale = scales.data()[i / kScaleColumns];
      const float left = matrix[row * stride + i] / scale - integers.data()[i];
      // Not a number where the scale is 0 or not finite: nothing is left of zeros.
      const float steps = std::isfinite(left) ? std::nearbyint(left * kRemainderSteps) : 0.0f;
      to[row * in + i] = static_cast<std::int8_t>(std::clamp(steps, -127.0f, 127.0f));
    }
  });
}

float refined_product(const float* x, const PackedMatrix& matrix, const std::int8_t* remainders,
                      std::int64_t row) {
  const Scratch<std::int8_t> integers(padded_in(matrix.form, matrix.in));
  const Scratch<float> scales(scale_groups(matrix.in));
  read_integers(matrix, row, integers.data());
  unpack_scales(matrix, row, scales.data());
  float sum = 0.0f;
  for (std::int64_t begin = 0, g = 0; begin < matrix.in; begin += kScaleColumns, ++g) {
    sum += scales.data()[g] * group_product(x + begin, integers.data() + begin,
                                            remainders + row * matrix.in + begin,
                                            std::min(kScaleColumns, matrix.in - begin));
  }
  return sum / kRemainderSteps;
}

}  // namespace heed::kernels
