// The k most probable tokens of rows of logits, as in searches, against only the log-softmax of the
// same rows, which a search would otherwise compute first.
#include "heed/kernels/likeliest.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "benchmarks/suites.h"
#include "benchmarks/support/measure.h"
#include "heed/kernels/reference/likeliest.h"
#include "heed/kernels/softmax.h"
#include "heed/tensor/create.h"

namespace heed::bench {
namespace {

template <typename T>
struct Answer {
  Answer(kernels::Rows rows, std::int64_t k, const T* logits)
      : normalisers(static_cast<std::size_t>(rows.count)),
        tokens(static_cast<std::size_t>(rows.count * k)),
        starts(static_cast<std::size_t>(rows.count) + 1),
        call{.rows = rows,
             .k = k,
             .logits = logits,
             .banned_starts = starts.data(),
             .banned = nullptr,
             .normalisers = normalisers.data(),
             .tokens = tokens.data()} {}

  std::vector<kernels::LogNormaliser<T>> normalisers;
  std::vector<std::int32_t> tokens;
  std::vector<std::int64_t> starts;  // all 0: nothing is banned
  kernels::LikeliestCall<T> call;
};

// The largest relative difference of a normaliser from the one in double.
double error_of(const Answer<float>& ours, kernels::Rows rows, const float* logits) {
  const std::vector<double> wide(logits, logits + rows.count * rows.width);
  Answer<double> exact(rows, ours.call.k, wide.data());
  kernels::likeliest(exact.call);
  double worst = 0.0;
  for (std::size_t i = 0; i < exact.normalisers.size(); ++i) {
    const double theirs = exact.normalisers[i](0.0);
    const double mine = static_cast<double>(ours.normalisers[i](0.0f));
    worst = std::max(worst, std::abs(mine - theirs) / std::abs(theirs));
  }
  return worst;
}

void compare(Report& report, kernels::Rows rows, std::int64_t k) {
  const Tensor logits = randn({rows.count, rows.width});
  Tensor logs = empty({rows.count, rows.width});
  Answer<float> answer(rows, k, logits.data<float>());
  for (const int threads : {1, 2}) {
    const Threads use(threads);
    const auto [ours, softmax] = interleave(
        [&] { kernels::likeliest(answer.call); },
        [&] { kernels::log_softmax(rows, logits.data<float>(), logs.mutable_data<float>()); }, 7);
    report.add({"the k likeliest tokens against the log-softmax alone",
                fmt::format("{} rows of {}, k {}", rows.count, rows.width, k), threads,
                softmax / ours, 1.0, fmt::format("{:.1f} us", ours * 1e6),
                fmt::format("{:.1f} us log-softmax", softmax * 1e6),
                error_of(answer, rows, logits.data<float>())});
  }
}

}  // namespace

void likeliest_tokens(Report& report) {
  compare(report, {64, 10000}, 1);    // greedy
  compare(report, {320, 10000}, 10);  // a beam of 5
  compare(report, {320, 32000}, 10);
}

}  // namespace heed::bench
