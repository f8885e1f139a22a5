// Attention to pages against plain sums in double: around page lengths, with groups of heads, odd
// numbers of features, on every instruction set.
#include "heed/kernels/attention/paged.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "heed/base/threads.h"
#include "tests/support/isa_guard.h"
#include "tests/support/values.h"

namespace heed::kernels::paged_test {
namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

// One sequence: its keys [length, G, D] and values [length, G, Dv], and the pages that hold them.
struct Sequence {
  Sequence(const PageShape& shape, std::int64_t count, std::uint64_t stream)
      : length(count),
        keys(test::random_floats(length * shape.G * shape.D, stream)),
        values(test::random_floats(length * shape.G * shape.Dv, stream + 1)) {
    for (std::int64_t i = 0; i < length; ++i) {
      // Unused positions must not matter.
      if (i % kPagePositions == 0) memory.emplace_back(index(shape.floats()), std::nanf(""));
      write_position(shape, i % kPagePositions, keys.data() + i * shape.G * shape.D, shape.D,
                     values.data() + i * shape.G * shape.Dv, shape.Dv, memory.back().data());
    }
    for (const auto& page : memory) pages.push_back(page.data());
  }
  PagedSequence view() const { return {pages.data(), length}; }

  std::int64_t length;
  std::vector<float> keys, values;
  std::vector<std::vector<float>> memory;
  std::vector<const float*> pages;
};

struct Expected {
  std::vector<double> output, weights;  // [H, Dv], [H, keys]
};

Expected plain(const PageShape& s, std::int64_t H, const Sequence& sequence, const float* q,
               double scale, double cap, std::int64_t keys) {
  Expected e{std::vector<double>(index(H * s.Dv), 0.0), std::vector<double>(index(H * keys), 0.0)};
  for (std::int64_t h = 0; h < H && sequence.length > 0; ++h) {
    const std::int64_t g = h / (H / s.G);
    double* const w = e.weights.data() + h * keys;
    double top = -1e300, total = 0.0;
    for (std::int64_t i = 0; i < sequence.length; ++i) {
      double score = 0.0;
      for (std::int64_t d = 0; d < s.D; ++d) {
        score +=
            static_cast<double>(q[h * s.D + d]) * sequence.keys[index((i * s.G + g) * s.D + d)];
      }
      w[i] = cap > 0.0 ? cap * std::tanh(score * scale / cap) : score * scale;
      top = std::max(top, w[i]);
    }
    for (std::int64_t i = 0; i < sequence.length; ++i) total += w[i] = std::exp(w[i] - top);
    for (std::int64_t i = 0; i < sequence.length; ++i) {
      w[i] /= total;
      for (std::int64_t d = 0; d < s.Dv; ++d) {
        e.output[index(h * s.Dv + d)] += w[i] * sequence.values[index((i * s.G + g) * s.Dv + d)];
      }
    }
  }
  return e;
}

struct Result {
  std::vector<float> output, weights;
};

Result attend(const PageShape& shape, std::int64_t H, const std::vector<PagedSequence>& sequences,
              const std::vector<float>& q, float cap, std::int64_t keys) {
  const auto rows = std::ssize(sequences);
  Result result{std::vector<float>(index(rows * H * shape.Dv), 77.0f),
                std::vector<float>(index(rows * H * keys), 77.0f)};
  attention_paged({.shape = shape,
                   .rows = rows,
                   .H = H,
                   .sequences = sequences.data(),
                   .q = q.data(),
                   .q_stride = H * shape.D,
                   .output = result.output.data(),
                   .scale = 0.3f,
                   .soft_cap = cap,
                   .weights = keys > 0 ? result.weights.data() : nullptr,
                   .weights_stride = keys});
  return result;
}

void compare(const PageShape& shape, std::int64_t H, float cap) {
  std::vector<Sequence> sequences;
  std::vector<PagedSequence> views;
  for (const std::int64_t length : {0, 1, 5, 15, 16, 17, 32, 33, 70, 100}) {
    sequences.emplace_back(shape, length, 10 + 2 * static_cast<std::uint64_t>(length));
  }
  for (const Sequence& sequence : sequences) views.push_back(sequence.view());
  const std::int64_t keys = 101;
  const auto q = test::random_floats(std::ssize(views) * H * shape.D, 3);
  const Result found = attend(shape, H, views, q, cap, keys);
  for (std::int64_t row = 0; row < std::ssize(views); ++row) {
    const float* const own = q.data() + row * H * shape.D;
    const Expected e = plain(shape, H, sequences[index(row)], own, 0.3, cap, keys);
    for (std::int64_t i = 0; i < H * shape.Dv; ++i) {
      ASSERT_NEAR(found.output[index(row * H * shape.Dv + i)], e.output[index(i)], 2e-5)
          << "row " << row << ", " << i;
    }
    for (std::int64_t i = 0; i < H * keys; ++i) {
      ASSERT_NEAR(found.weights[index(row * H * keys + i)], e.weights[index(i)], 2e-6)
          << "weights of row " << row << ", " << i;
    }
    // The same bits alone.
    const Result alone = attend(shape, H, {views[index(row)]}, {own, own + H * shape.D}, cap, 0);
    for (std::int64_t i = 0; i < H * shape.Dv; ++i) {
      ASSERT_EQ(alone.output[index(i)], found.output[index(row * H * shape.Dv + i)]);
    }
  }
}

TEST(Paged, EqualsPlainSums) {
  test::for_each_isa([](Isa isa) {
    SCOPED_TRACE(name_of(isa));
    for (const PageShape& shape : {PageShape{1, 1, 1}, PageShape{2, 8, 5}, PageShape{3, 17, 33},
                                   PageShape{2, 64, 64}, PageShape{1, 128, 80}}) {
      for (const std::int64_t group : {1, 2, 3, 4, 7}) {
        SCOPED_TRACE(
            fmt::format("G {} D {} Dv {}, {} heads of a group", shape.G, shape.D, shape.Dv, group));
        compare(shape, shape.G * group, 0.0f);
      }
    }
    compare({2, 16, 16}, 4, 1.5f);
  });
}

TEST(Paged, AnyNumberOfThreadsGivesTheSameBits) {
  const PageShape shape{4, 64, 64};
  std::vector<Sequence> sequences;
  std::vector<PagedSequence> views;
  for (std::int64_t i = 0; i < 20; ++i) sequences.emplace_back(shape, 50 + i, 100);
  for (const Sequence& sequence : sequences) views.push_back(sequence.view());
  const auto q = test::random_floats(20 * 8 * 64, 5);
  const int before = num_threads();
  set_num_threads(1);
  const Result one = attend(shape, 8, views, q, 0.0f, 0);
  set_num_threads(3);
  EXPECT_EQ(attend(shape, 8, views, q, 0.0f, 0).output, one.output);
  set_num_threads(before);
}

TEST(Paged, CopiedPositionsGoOn) {
  const PageShape shape{2, 9, 7};
  const Sequence whole(shape, 14, 7);
  Sequence copy = whole;
  copy.memory[0].assign(index(shape.floats()), std::nanf(""));
  copy.pages = {copy.memory[0].data()};
  copy_positions(shape, 6, whole.memory[0].data(), copy.memory[0].data());
  for (std::int64_t i = 6; i < 14; ++i) {
    write_position(shape, i, whole.keys.data() + i * 18, 9, whole.values.data() + i * 14, 7,
                   copy.memory[0].data());
  }
  const auto q = test::random_floats(4 * 9, 5);
  EXPECT_EQ(attend(shape, 4, {copy.view()}, q, 0.0f, 0).output,
            attend(shape, 4, {whole.view()}, q, 0.0f, 0).output);
}

}  // namespace
}  // namespace heed::kernels::paged_test
