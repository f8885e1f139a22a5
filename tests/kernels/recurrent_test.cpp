#include "heed/kernels/recurrent.h"

#include <gtest/gtest.h>

#include <vector>

#include "heed/base/random.h"
#include "heed/kernels/recurrent_rows.h"

namespace heed::kernels::recurrent_test {
namespace {

std::vector<double> numbers(std::int64_t n, std::uint64_t stream) {
  std::vector<double> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = RandomStream{3, stream}.normal(i) * 0.5;
  return x;
}

// The definition itself: one sequence, one step at a time, products written out.
std::vector<double> gru_by_hand(const RecurrentCall<double>& c, const double* gates,
                                std::int64_t b) {
  const std::int64_t h = c.hidden;
  std::vector<double> state(static_cast<std::size_t>(h)), out(static_cast<std::size_t>(c.time * h));
  const std::int64_t length = c.lengths != nullptr ? c.lengths[b] : c.time;
  for (std::int64_t step = 0; step < length; ++step) {
    const std::int64_t t = c.reverse ? length - 1 - step : step;
    std::vector<double> share(static_cast<std::size_t>(3 * h)),
        saved(static_cast<std::size_t>(4 * h));
    for (std::int64_t i = 0; i < 3 * h; ++i) {
      for (std::int64_t j = 0; j < h; ++j) share[i] += c.weight[i * h + j] * state[j];
    }
    gru_step(h, StepForward<double>{gates + (b * c.time + t) * 3 * h, share.data(), c.bias,
                                    state.data(), nullptr, saved.data()});
    std::copy(state.begin(), state.end(), out.begin() + t * h);
  }
  return out;
}

TEST(Recurrent, EqualsTheDefinitionForEverySequenceOfABatch) {
  const std::int64_t batch = 19, time = 6, hidden = 5;  // two cells, the second ragged
  const auto gates = numbers(batch * time * 3 * hidden, 0);
  const auto weight = numbers(3 * hidden * hidden, 1);
  const auto bias = numbers(3 * hidden, 2);
  std::vector<std::int64_t> lengths;
  for (std::int64_t b = 0; b < batch; ++b) lengths.push_back(b % (time + 1));
  for (const bool reverse : {false, true}) {
    const RecurrentCall<double> call{.batch = batch,
                                     .time = time,
                                     .hidden = hidden,
                                     .lengths = lengths.data(),
                                     .reverse = reverse,
                                     .weight = weight.data(),
                                     .bias = bias.data()};
    std::vector<double> output(static_cast<std::size_t>(batch * time * hidden), 99.0);
    std::vector<double> state(static_cast<std::size_t>(batch * hidden)), saved(gates.size() * 2);
    recurrent_forward<Gru, double>(
        call, {gates.data(), output.data(), state.data(), nullptr, saved.data()});
    for (std::int64_t b = 0; b < batch; ++b) {
      const auto expected = gru_by_hand(call, gates.data(), b);
      for (std::int64_t i = 0; i < time * hidden; ++i) {
        ASSERT_NEAR(output[b * time * hidden + i], expected[i], 1e-12)
            << "sequence " << b << " at " << i;
      }
    }
  }
}

}  // namespace
}  // namespace heed::kernels::recurrent_test
