#include "heed/kernels/recurrent_rows.h"

#include <gtest/gtest.h>

#include <vector>

#include "heed/base/random.h"
#include "tests/support/isa_guard.h"

namespace heed::kernels {
namespace {

// The buffers of one step in one precision, from the same numbers.
template <typename T>
struct Buffers {
  std::vector<std::vector<T>> data;

  explicit Buffers(std::int64_t hidden) {
    for (std::uint64_t k = 0; k < 7; ++k) {
      std::vector<T> row(static_cast<std::size_t>(5 * hidden));
      for (std::size_t i = 0; i < row.size(); ++i)
        row[i] = static_cast<T>(RandomStream{9, k}.uniform(i));
      data.push_back(row);
    }
  }
  StepForward<T> forward() {
    return {data[0].data(), data[1].data(), data[2].data(),
            data[3].data(), data[4].data(), data[5].data()};
  }
  StepBackward<T> backward(bool shared) {
    T* const gates = data[5].data();
    return {data[0].data(),
            data[1].data(),
            data[2].data(),
            data[3].data(),
            data[4].data(),
            gates,
            shared ? gates : data[6].data()};
  }
};

template <typename Step>
void expect_equal(const char* name, const Step& step) {
  for (const std::int64_t hidden : {1, 7, 8, 17, 63, 65}) {
    Buffers<double> expected(hidden);
    step(hidden, expected);
    test::for_each_isa([&](Isa isa) {
      Buffers<float> actual(hidden);
      step(hidden, actual);
      for (std::size_t k = 0; k < expected.data.size(); ++k) {
        for (std::size_t i = 0; i < expected.data[k].size(); ++i) {
          ASSERT_NEAR(actual.data[k][i], expected.data[k][i], 2e-6)
              << name << " on " << name_of(isa) << ", hidden " << hidden << ", buffer " << k
              << " at " << i;
        }
      }
    });
  }
}

TEST(RecurrentRows, EqualTheirTwins) {
  expect_equal("gru", [](std::int64_t n, auto& b) { gru_step(n, b.forward()); });
  expect_equal("gru backward",
               [](std::int64_t n, auto& b) { gru_step_backward(n, b.backward(false)); });
  expect_equal("lstm", [](std::int64_t n, auto& b) { lstm_step(n, b.forward()); });
  expect_equal("lstm backward",
               [](std::int64_t n, auto& b) { lstm_step_backward(n, b.backward(true)); });
}

}  // namespace
}  // namespace heed::kernels
