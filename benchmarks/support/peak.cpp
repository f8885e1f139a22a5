#include "benchmarks/support/peak.h"

#include <dnnl.h>
#include <omp.h>

#include <vector>

#include "benchmarks/support/measure.h"
#include "heed/base/threads.h"

namespace heed::bench {
namespace {

constexpr dnnl_dim_t kM = 1024, kN = 512, kK = 512;
constexpr int kCalls = 8;

struct Operands {
  std::vector<float> a = std::vector<float>(kM * kK, 0.5f);
  std::vector<float> b = std::vector<float>(kK * kN, 0.25f);
  std::vector<float> c = std::vector<float>(kM * kN);
  void run() {
    dnnl_sgemm('N', 'N', kM, kN, kK, 1.0f, a.data(), kK, b.data(), kN, 0.0f, c.data(), kN);
  }
};

}  // namespace

double sgemm_gflops(int threads) {
  static std::vector<Operands> operands(64);
  const Threads use(threads);
  const double time = seconds([&] {
    parallel_for(threads, std::int64_t{1} << 40, [&](std::int64_t t) {
      omp_set_num_threads(1);  // of this thread
      for (int i = 0; i < kCalls; ++i) operands[static_cast<std::size_t>(t)].run();
    });
  });
  return 2.0 * kM * kN * kK * kCalls * threads / time * 1e-9;
}

}  // namespace heed::bench
