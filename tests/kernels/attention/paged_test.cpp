// Attention to pages against its plain twin: around the ends of pages, blocks and spans, with
// groups of heads, several queries, windows and biases, odd numbers of features, on every
// instruction set and in every form.
#include "heed/kernels/attention/paged.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "heed/base/threads.h"
#include "heed/kernels/reference/paged.h"
#include "tests/support/isa_guard.h"
#include "tests/support/values.h"

namespace heed::kernels::paged_test {
namespace {

constexpr CacheForm kForms[] = {CacheForm::f32, CacheForm::bf16, CacheForm::int8};

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

// A sequence of random positions in pages of its own.
struct Sequence {
  Sequence(const PageShape& shape, std::int64_t count, std::uint64_t stream) : length(count) {
    const std::int64_t k = shape.G * shape.D, v = shape.G * shape.Dv;
    const auto keys = test::random_floats(length * k, stream);
    const auto values = test::random_floats(length * v, stream + 1);
    for (std::int64_t i = 0; i < length; i += kPagePositions) {
      // Unused positions must not matter: all bits set are NaN.
      memory.emplace_back(index(shape.bytes()), std::byte{0xff});
      write_positions(shape, 0, std::min(length - i, kPagePositions),
                      {.k = keys.data() + i * k,
                       .v = values.data() + i * v,
                       .k_head = shape.D,
                       .k_position = k,
                       .v_head = shape.Dv,
                       .v_position = v},
                      memory.back().data());
    }
    for (const auto& page : memory) pages.push_back(page.data());
  }
  PagedSequence view() const { return {pages.data(), length}; }

  std::int64_t length;
  std::vector<std::vector<std::byte>> memory;
  std::vector<const std::byte*> pages;
};

// What the queries of a call do.
struct Trial {
  PageShape shape;
  std::int64_t group = 1, T = 1;
  float soft_cap = 0.0f;
  bool causal = false;
  std::int64_t window = 0;
  bool bias = false;

  std::int64_t H() const { return shape.G * group; }
};

struct Result {
  std::vector<float> output, weights;
};

constexpr std::int64_t kKeys = 1101;  // of weights

class Attended {
 public:
  Attended(const Trial& trial, const std::vector<PagedSequence>& sequences, const float* q)
      : trial_(trial), sequences_(sequences), bias_(test::random_floats(trial.H() * kKeys, 9)) {
    const std::int64_t D = trial.shape.D, H = trial.H(), T = trial.T;
    call_ = {.shape = trial.shape,
             .rows = std::ssize(sequences),
             .H = H,
             .T = T,
             .sequences = sequences_.data(),
             .q = q,
             .q_row = T * H * D,
             .q_head = D,
             .q_position = H * D,
             .output = nullptr,
             .scale = 0.3f,
             .soft_cap = trial.soft_cap,
             .causal = trial.causal,
             .window = trial.window};
    if (trial.bias) call_.bias = {bias_.data(), kKeys, kKeys};
  }

  Result run(bool weights) {
    const std::int64_t queries = call_.rows * call_.H * call_.T;
    Result result{std::vector<float>(index(queries * call_.shape.Dv), 77.0f),
                  std::vector<float>(index(queries * (weights ? kKeys : 0)), 77.0f)};
    call_.output = result.output.data();
    call_.weights = weights ? result.weights.data() : nullptr;
    call_.weights_stride = weights ? kKeys : 0;
    attention_paged(call_);
    return result;
  }
  const PagedCall& call() const { return call_; }

 private:
  Trial trial_;
  std::vector<PagedSequence> sequences_;
  std::vector<float> bias_;
  PagedCall call_{};
};

const std::vector<std::int64_t> kShort = {0, 1, 5, 15, 16, 17, 33, 63, 64, 65, 100};
const std::vector<std::int64_t> kLong = {511, 512, 513, 700, 1100};

void compare(const Trial& trial, const std::vector<std::int64_t>& lengths) {
  const std::int64_t H = trial.H(), T = trial.T, Dv = trial.shape.Dv;
  SCOPED_TRACE(fmt::format("G {} D {} Dv {} form {} group {} T {} window {}", trial.shape.G,
                           trial.shape.D, Dv, static_cast<int>(trial.shape.form), trial.group, T,
                           trial.window));
  std::vector<Sequence> sequences;
  std::vector<PagedSequence> views;
  for (const std::int64_t length : lengths) {
    if (trial.causal && length < T) continue;
    sequences.emplace_back(trial.shape, length, 10 + 2 * static_cast<std::uint64_t>(length));
  }
  for (const Sequence& sequence : sequences) views.push_back(sequence.view());
  const std::int64_t q_size = H * T * trial.shape.D;
  const auto q = test::random_floats(std::ssize(views) * q_size, 3);
  Attended all(trial, views, q.data());
  const Result found = all.run(true), without_weights = all.run(false);
  for (std::int64_t row = 0; row < std::ssize(views); ++row) {
    Attended one(trial, {views[index(row)]}, q.data() + row * q_size);
    const Result alone = one.run(false);
    for (std::int64_t t = 0; t < T; ++t) {
      for (std::int64_t h = 0; h < H; ++h) {
        const auto expected = reference::attention_paged(all.call(), row, t, h);
        const float* const output = found.output.data() + ((row * T + t) * H + h) * Dv;
        for (std::int64_t i = 0; i < Dv; ++i) {
          ASSERT_NEAR(output[i], expected.output[index(i)], 3e-5)
              << "row " << row << " query " << t << " head " << h << ", " << i;
          ASSERT_EQ(alone.output[index((t * H + h) * Dv + i)],
                    without_weights.output[index(((row * T + t) * H + h) * Dv + i)]);
        }
        const float* const weights = found.weights.data() + ((row * H + h) * T + t) * kKeys;
        for (std::int64_t i = 0; i < kKeys; ++i) {
          const double weight = i < std::ssize(expected.weights) ? expected.weights[index(i)] : 0.0;
          ASSERT_NEAR(weights[i], weight, 3e-6) << "weight of row " << row << ", key " << i;
        }
      }
    }
  }
}

TEST(Paged, EqualsPlainSums) {
  test::for_each_isa([](Isa isa) {
    SCOPED_TRACE(name_of(isa));
    for (const CacheForm form : kForms) {
      for (const PageShape& shape :
           {PageShape{1, 1, 1, form}, PageShape{3, 17, 33, form}, PageShape{2, 64, 64, form}}) {
        for (const std::int64_t group : {1, 2, 3, 4, 5, 6, 7}) {
          compare({.shape = shape, .group = group}, kShort);
        }
      }
      compare({.shape = {1, 128, 80, form}, .group = 2}, kLong);
    }
    compare({.shape = {2, 16, 16}, .group = 2, .soft_cap = 1.5f}, kShort);
  });
}

TEST(Paged, SeveralQueriesAttendToWhatIsBeforeThem) {
  test::for_each_isa([](Isa isa) {
    SCOPED_TRACE(name_of(isa));
    for (const CacheForm form : kForms) {
      for (const std::int64_t T : {1, 2, 7, 17}) {
        compare({.shape = {2, 8, 8, form}, .group = 3, .T = T, .causal = true}, kShort);
        compare({.shape = {1, 8, 8, form}, .group = 2, .T = T, .causal = true}, kLong);
        compare({.shape = {1, 9, 8, form}, .T = T}, kShort);  // a memory
      }
    }
  });
}

TEST(Paged, WindowsAndBiases) {
  test::for_each_isa([](Isa isa) {
    SCOPED_TRACE(name_of(isa));
    for (const std::int64_t T : {1, 5}) {
      const Trial plain{.shape = {2, 16, 8}, .group = 2, .T = T, .causal = true};
      for (const std::int64_t window : {1, 7, 16, 17, 64, 600}) {
        Trial trial = plain;
        trial.window = window;
        compare(trial, kShort);
        compare(trial, kLong);
        trial.bias = true;
        trial.soft_cap = 2.0f;
        trial.shape.form = CacheForm::int8;
        compare(trial, kShort);
      }
      Trial trial = plain;
      trial.bias = true;
      compare(trial, kShort);
      compare(trial, kLong);
    }
  });
}

TEST(Paged, PagesBeforeTheWindowAreNotRead) {
  const Trial trial{.shape = {1, 8, 8}, .causal = true, .window = 20};
  Sequence sequence(trial.shape, 1100, 4);
  const auto q = test::random_floats(8, 3);
  const Result whole = Attended(trial, {sequence.view()}, q.data()).run(false);
  for (std::size_t page = 0; page < 1080 / 16; ++page) sequence.pages[page] = nullptr;
  EXPECT_EQ(Attended(trial, {sequence.view()}, q.data()).run(false).output, whole.output);
}

TEST(Paged, AnyNumberOfThreadsGivesTheSameBits) {
  const int before = num_threads();
  for (const std::int64_t rows : {1, 20}) {
    const Trial trial{.shape = {4, 64, 64}, .group = 2, .T = 3, .causal = true};
    std::vector<Sequence> sequences;
    std::vector<PagedSequence> views;
    for (std::int64_t i = 0; i < rows; ++i) sequences.emplace_back(trial.shape, 900 + 60 * i, 100);
    for (const Sequence& sequence : sequences) views.push_back(sequence.view());
    const auto q = test::random_floats(rows * 8 * 3 * 64, 5);
    Attended attended(trial, views, q.data());
    set_num_threads(1);
    const Result one = attended.run(false);
    set_num_threads(3);
    EXPECT_EQ(attended.run(false).output, one.output);
  }
  set_num_threads(before);
}

// A query gets the same bits alone as together with the queries after it, as long as the pages have
// the same keys in the same order.
TEST(Paged, QueriesBesideItDoNotMatter) {
  const Trial many{.shape = {1, 64, 64}, .group = 7, .T = 6};
  const Sequence sequence(many.shape, 640, 6);
  const auto q = test::random_floats(7 * 6 * 64, 5);
  const Result all = Attended(many, {sequence.view()}, q.data()).run(false);
  Trial one = many;
  one.group = 1;
  one.T = 1;
  for (std::int64_t i = 0; i < 42; ++i) {
    const Result alone = Attended(one, {sequence.view()}, q.data() + i * 64).run(false);
    for (std::int64_t d = 0; d < 64; ++d) {
      ASSERT_EQ(alone.output[index(d)], all.output[index(i * 64 + d)]);
    }
  }
}

}  // namespace
}  // namespace heed::kernels::paged_test
