// The cost of recording and running a node, without its kernels: a chain of one-element additions,
// with and without the tape.
#include "heed/autograd/tape.h"

#include <fmt/format.h>

#include "benchmarks/suites.h"
#include "benchmarks/support/measure.h"
#include "heed/ops/elementwise.h"
#include "heed/tensor/create.h"

namespace heed::bench {
namespace {

constexpr int kChain = 1000;

Tensor chain(Tensor x, const Tensor& step) {
  for (int i = 0; i < kChain; ++i) x = x * step;
  return x;
}

}  // namespace

void tape(Report& report) {
  const Threads one(1);
  Tensor x = ones({1}).requires_grad();
  const Tensor step = ones({1});
  // Forward has one kernel per node, and so has backward (dy * step), so the kernels take twice the
  // time of the chain without tape.
  const auto [taped, plain] = interleave(
      [&] {
        const Tensor y = chain(x, step);
        y.backward();
        x.set_grad({});
      },
      [&] {
        const NoGrad off;
        chain(x, step);
        chain(x, step);
      });
  const double overhead = (taped - plain) / kChain;
  report.add({"the tape", "one node, recorded and walked, beyond its kernels", 1,
              1e-6 / std::max(overhead, 1e-12), 1.0, fmt::format("{:.0f} ns", overhead * 1e9),
              "1000 ns"});
}

}  // namespace heed::bench
