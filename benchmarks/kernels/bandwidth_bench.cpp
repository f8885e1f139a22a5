// Memory-bound kernels on arrays much larger than the caches, against the copy bandwidth of the
// machine in the same rounds.
#include <cstring>
#include <functional>
#include <vector>

#include "benchmarks/suites.h"
#include "benchmarks/support/measure.h"
#include "heed/autograd/tape.h"
#include "heed/kernels/elementwise.h"
#include "heed/kernels/norm.h"
#include "heed/kernels/optimizer.h"
#include "heed/tensor/create.h"

namespace heed::bench {
namespace {

constexpr std::int64_t kElements = std::int64_t{1} << 25;  // 128 MiB per array: four times the L3
constexpr std::int64_t kWidth = 512;
constexpr std::int64_t kRows = kElements / kWidth;
constexpr std::int64_t kBlock = 1 << 16;

// Reads and writes, as every kernel below does: the faster of a plain loop and memcpy, in blocks
// that the threads share.
double copy_bandwidth(const float* from, float* to) {
  const auto copy = [&](auto&& block) {
    return [&, block] {
      parallel_for(kElements / kBlock, kBlock,
                   [&](std::int64_t c) { block(from + c * kBlock, to + c * kBlock); });
    };
  };
  const double with_loop = best_of(copy([](const float* in, float* out) {
                                     for (std::int64_t i = 0; i < kBlock; ++i)
                                       out[i] = in[i] + 1.0f;
                                   }),
                                   3);
  const double with_memcpy = best_of(
      copy([](const float* in, float* out) { std::memcpy(out, in, kBlock * sizeof(float)); }), 3);
  return 2.0 * sizeof(float) * kElements / std::min(with_loop, with_memcpy);
}

struct BandwidthCase {
  const char* name;
  int arrays;  // read or written once each
  std::function<void()> run;
};

}  // namespace

void bandwidth(Report& report) {
  Tensor a = randn({kElements}), b = randn({kElements}), c = zeros({kElements}),
         d = ones({kElements});
  Tensor weight = ones({kWidth}), bias = zeros({kWidth}), mean = empty({kRows}),
         scale = ones({kRows});
  float* const x = a.mutable_data<float>();
  float* const g = b.mutable_data<float>();
  float* const y = c.mutable_data<float>();
  float* const z = d.mutable_data<float>();
  float* const w = weight.mutable_data<float>();
  float* const v = bias.mutable_data<float>();
  float* const m = mean.mutable_data<float>();
  float* const r = scale.mutable_data<float>();
  const auto two = kernels::make_nest<2>({kElements}, {Strides{1}, {1}});
  const auto three = kernels::make_nest<3>({kElements}, {Strides{1}, {1}, {1}});
  const kernels::NormForward<float> norm{{kRows, kWidth}, 1e-5, x, nullptr, w, v, nullptr, y, m, r};
  const kernels::NormBackward<float> norm_back{{kRows, kWidth}, x, w, m, r, g, nullptr, y, w, v};
  const kernels::AdamSlice<float> slice[] = {{kElements, x, g, y, z, 1e-6, 1.0, 1.0, 0.0}};
  const kernels::AdamRule rule{0.9, 0.999, 1e-8, 1.0};
  const BandwidthCase cases[] = {
      {"add", 3, [&] { kernels::binary(kernels::Binary::add, three, x, g, y); }},
      {"relu", 2, [&] { kernels::unary(kernels::Unary::relu, two, x, y); }},
      {"layer norm, 65536 rows of 512", 2, [&] { kernels::norm(kernels::Norm::layer, norm); }},
      {"layer norm gradients", 3, [&] { kernels::norm_backward(kernels::Norm::layer, norm_back); }},
      {"AdamW", 7, [&] { kernels::adam(slice, rule); }},
  };
  for (const int threads : {1, 2}) {
    const Threads scope(threads);
    for (const BandwidthCase& item : cases) {
      double best = 0.0, raw = 0.0;
      for (int round = 0; round < 3; ++round) {
        raw = std::max(raw, copy_bandwidth(x, y));
        best = std::max(best, item.arrays * sizeof(float) * kElements / best_of(item.run, 3));
      }
      report.add({"memory-bound kernels against copy bandwidth", item.name, threads, best / raw,
                  0.80, fmt::format("{:.1f} GB/s", best * 1e-9),
                  fmt::format("{:.1f} GB/s copied", raw * 1e-9)});
    }
  }
}

}  // namespace heed::bench
