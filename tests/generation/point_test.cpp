// Positions found by searches: greedy steps by hand, beams against all sequences, any company, and
// folders.
#include "heed/generation/point.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "heed/autograd/tape.h"
#include "heed/generation/model_folder.h"
#include "heed/models/pointer_network.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"
#include "tests/support/temp_dir.h"

namespace heed::point_test {
namespace {

using testing::HasSubstr;

ElementPointer tiny(bool each_once, std::uint64_t seed = 4) {
  Generator generator(seed);
  auto model = std::make_unique<PointerNetwork>(
      PointerNetworkConfig{.features = 1, .embed = 5, .hidden = 6, .each_once = each_once},
      generator);
  // Larger weights make the distributions sharper, so that the searches have something to find.
  for (NamedTensor& parameter : model->named_parameters()) {
    for (float& x : std::span(parameter.tensor.mutable_data<float>(),
                              static_cast<std::size_t>(parameter.tensor.numel()))) {
      x *= 3.0f;
    }
  }
  model->eval();
  return {std::move(model)};
}

Elements numbers(std::initializer_list<float> values) {
  return {from_values<float>(values, {1, static_cast<std::int64_t>(values.size()), 1})};
}

// The log-probability of positions and the end, from one pass over the whole sequence.
double log_probability(const ElementPointer& pointer, const Elements& elements,
                       std::vector<std::int32_t> positions) {
  const NoGrad no_grad;
  std::vector<std::int64_t> all(positions.begin(), positions.end());
  all.push_back(0);
  const std::int64_t P = std::ssize(all), N = elements.numbers.size(1) + 1;
  const auto y =
      pointer.model->log_probs(elements, from_values(std::span<const std::int64_t>(all), {1, P}))
          .to_vector<float>();
  double sum = 0.0;
  for (std::int64_t i = 0; i < P; ++i) {
    sum += y[static_cast<std::size_t>(i * N + all[static_cast<std::size_t>(i)])];
  }
  return sum;
}

// Every sequence of different positions.
void for_sequences(std::int32_t n, std::vector<std::int32_t>& so_far,
                   const std::function<void(const std::vector<std::int32_t>&)>& visit) {
  visit(so_far);
  for (std::int32_t i = 1; i <= n; ++i) {
    if (std::ranges::find(so_far, i) != so_far.end()) continue;
    so_far.push_back(i);
    for_sequences(n, so_far, visit);
    so_far.pop_back();
  }
}

TEST(Point, AWideBeamFindsTheMostProbableSequence) {
  for (const std::uint64_t seed : {4, 5, 6}) {
    const ElementPointer pointer = tiny(true, seed);
    const Elements elements = numbers({0.3f, -1.0f, 2.0f, 0.7f});
    std::vector<std::int32_t> best, none;
    double most = -INFINITY;
    for_sequences(4, none, [&](const std::vector<std::int32_t>& positions) {
      const double p = log_probability(pointer, elements, positions);
      if (p > most) most = p, best = positions;
    });
    const Pointed found = point(*pointer.model, elements, {.beam_size = 100})[0];
    EXPECT_EQ(found.positions, best);
    EXPECT_NEAR(found.log_probability, most, 1e-4);
  }
}

TEST(Point, GreedySearchTakesTheBestOfEachStep) {
  for (const bool each_once : {false, true}) {
    const ElementPointer pointer = tiny(each_once);
    const Elements elements = numbers({0.3f, -1.0f, 2.0f});
    const Pointed found = point(*pointer.model, elements)[0];
    EXPECT_LE(found.positions.size(), 6u) << "twice the elements";
    const NoGrad no_grad;
    std::vector<std::int64_t> all(found.positions.begin(), found.positions.end());
    all.push_back(0);
    const std::int64_t P = std::ssize(all);
    const auto y =
        pointer.model->log_probs(elements, from_values(std::span<const std::int64_t>(all), {1, P}))
            .to_vector<float>();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto row = std::span(y).subspan(4 * i, 4);
      if (found.positions.size() == 6 && i == 6) break;  // the length ended it
      EXPECT_EQ(std::ranges::max_element(row) - row.begin(), all[i]);
    }
  }
}

// Sets of different sizes in one batch: the positions and the bits of each alone.
TEST(Point, ResultsDoNotDependOnCompany) {
  for (const std::int64_t beam : {1, 4}) {
    const ElementPointer pointer = tiny(true);
    const Elements all{randn({4, 9, 1}), from_values<std::int64_t>({9, 1, 4, 7}, {4})};
    const auto together = point(*pointer.model, all, {.beam_size = beam});
    ASSERT_EQ(together.size(), 4u);
    for (std::int64_t b = 0; b < 4; ++b) {
      const std::int64_t n = all.lengths.to_vector<std::int64_t>()[static_cast<std::size_t>(b)];
      const Tensor own =
          clone_data(view::slice(view::slice(all.numbers, 0, b, b + 1), 1, 0, n));  // [1, n, 1]
      const Pointed alone = point(*pointer.model, {own}, {.beam_size = beam})[0];
      EXPECT_EQ(together[static_cast<std::size_t>(b)].positions, alone.positions) << b;
      EXPECT_NEAR(together[static_cast<std::size_t>(b)].log_probability, alone.log_probability,
                  1e-5);
    }
  }
}

TEST(Point, StopsWhenItIsTold) {
  const ElementPointer pointer = tiny(true);
  EXPECT_THROW(point(*pointer.model, numbers({1.0f}), {}, [] { fail("enough"); }), Error);
  EXPECT_TRUE(point(*pointer.model, {zeros({0, 3, 1})}).empty());
  EXPECT_THAT(error_message([&] { point(*pointer.model, numbers({1.0f}), {.beam_size = 0}); }),
              HasSubstr("beam_size"));
}

TEST(Point, FoldersHoldTheModel) {
  const TempDir dir;
  const ElementPointer pointer = tiny(true);
  save_model(pointer, dir.path());
  const ElementPointer loaded = load_element_pointer(dir.path());
  const Elements elements = numbers({0.3f, -1.0f, 2.0f, 0.7f});
  EXPECT_EQ(point(*loaded.model, elements)[0].positions,
            point(*pointer.model, elements)[0].positions);
  EXPECT_TRUE(std::holds_alternative<ElementPointer>(load_model(dir.path(), PackedForm::f32)));
  EXPECT_THAT(error_message([&] { load_translator(dir.path()); }),
              HasSubstr("a model for task \"point\" (pointer_network), not for \"translate\""));
}

}  // namespace
}  // namespace heed::point_test
