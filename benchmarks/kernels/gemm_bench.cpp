// heed's matrix product against a raw oneDNN call on the same operands, and two threads against
// twice the peak of one.
#include "heed/kernels/gemm.h"

#include <dnnl.h>
#include <omp.h>

#include <array>

#include "benchmarks/suites.h"
#include "benchmarks/support/measure.h"
#include "heed/autograd/tape.h"
#include "heed/ops/matmul.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed::bench {
namespace {

struct GemmCase {
  const char* name;
  std::int64_t m, n, k;
  bool transpose_a, transpose_b;
};

constexpr GemmCase kGemmCases[] = {
    {"1024x512x512", 1024, 512, 512, false, false},
    {"1024x512x512, b transposed", 1024, 512, 512, false, true},
    {"512x512x1024, a transposed", 512, 512, 1024, true, false},
    {"64x512x784, b transposed (MLP forward)", 64, 512, 784, false, true},
    {"64x512x512 (MLP gradient of x)", 64, 512, 512, false, false},
    {"512x784x64, a transposed (MLP gradient of w)", 512, 784, 64, true, false},
    {"1600x768x256, b transposed (GRU input)", 1600, 768, 256, false, true},
    {"2048x2048x512", 2048, 2048, 512, false, false},
};

double gflops(const GemmCase& c, double seconds) {
  return 2.0 * static_cast<double>(c.m * c.n * c.k) / seconds * 1e-9;
}

void raw(const GemmCase& c, const Tensor& a, const Tensor& b, Tensor& y) {
  dnnl_sgemm(c.transpose_a ? 'T' : 'N', c.transpose_b ? 'T' : 'N', c.m, c.n, c.k, 1.0f,
             a.data<float>(), a.size(1), b.data<float>(), b.size(1), 0.0f, y.mutable_data<float>(),
             c.n);
}

double error_of(const Tensor& y, const Tensor& a, const Tensor& b, const GemmCase& c) {
  // The twin is slow, so only a corner of the result is compared.
  const std::int64_t rows = std::min<std::int64_t>(c.m, 8);
  const Tensor a64 = cast_data(slice(a, 0, 0, rows), DType::f64);
  const Tensor expected = matmul(a64, cast_data(b, DType::f64));
  const Tensor actual = cast_data(slice(y, 0, 0, rows), DType::f64);
  double worst = 0.0;
  for (std::int64_t i = 0; i < rows * c.n; ++i) {
    worst = std::max(worst, std::abs(expected.data<double>()[i] - actual.data<double>()[i]));
  }
  return worst;
}

}  // namespace

void gemm(Report& report) {
  const NoGrad off;
  omp_set_num_threads(1);  // the raw call is single-threaded; heed does not use OpenMP
  double peak = 0.0;
  for (const GemmCase& c : kGemmCases) {
    const Tensor a = c.transpose_a ? randn({c.k, c.m}) : randn({c.m, c.k});
    const Tensor b = c.transpose_b ? randn({c.n, c.k}) : randn({c.k, c.n});
    const Tensor left = c.transpose_a ? transpose(a) : a;
    const Tensor right = c.transpose_b ? transpose(b) : b;
    Tensor y = empty({c.m, c.n});
    const Threads one(1);
    const auto [ours, theirs] = interleave([&] { matmul(left, right); }, [&] { raw(c, a, b, y); });
    if (&c == kGemmCases) peak = gflops(c, theirs);
    report.add({"matrix product against raw oneDNN sgemm", c.name, 1, theirs / ours, 0.97,
                fmt::format("{:.1f} GF/s", gflops(c, ours)),
                fmt::format("{:.1f} GF/s oneDNN", gflops(c, theirs)),
                error_of(matmul(left, right), left, right, c)});
  }
  for (const GemmCase& c : {kGemmCases[0], kGemmCases[1], kGemmCases[6], kGemmCases[7]}) {
    const Tensor a = randn({c.m, c.k});
    const Tensor b = c.transpose_b ? transpose(randn({c.n, c.k})) : randn({c.k, c.n});
    // The peak of one thread is measured in the same rounds.
    const Tensor pa = randn({1024, 512});
    const Tensor pb = randn({512, 512});
    Tensor y = empty({1024, 512});
    const Threads two(2);
    const auto [ours, theirs] =
        interleave([&] { matmul(a, b); }, [&] { raw(kGemmCases[0], pa, pb, y); });
    peak = gflops(kGemmCases[0], theirs);
    report.add({"two threads against twice the peak of one", c.name, 2,
                gflops(c, ours) / (2.0 * peak), 0.90, fmt::format("{:.1f} GF/s", gflops(c, ours)),
                fmt::format("2 x {:.1f} GF/s oneDNN", peak)});
  }
}

}  // namespace heed::bench
