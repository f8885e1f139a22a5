// The pointer network compared with loops in double, gradients with differences, steps with whole
// sequences, and what its results depend on.
#include "heed/models/pointer_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "heed/autograd/gradcheck.h"
#include "heed/autograd/tape.h"
#include "heed/io/config.h"
#include "heed/ops/cross_entropy.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
#include "tests/models/model_case.h"
#include "tests/support/error_message.h"

namespace heed::pointer_network_test {
namespace {

using test::lengths_of;
using test::row_of;
using test::same_bits;
using testing::HasSubstr;

PointerNetworkConfig small() {
  return {.features = 2, .embed = 5, .hidden = 7, .cell = Cell::lstm, .glimpses = 0};
}

// Three sets of 6, 4 and 1 elements; no step points at one twice.
struct Sets {
  Elements elements{randn({3, 6, 2}), lengths_of({6, 4, 1})};
  Tensor pointed = from_values<std::int64_t>({3, 1, 6, 2, 0, 4, 2, 3, 1, 0, 1, 0, 0, 0, 0}, {3, 5});
  Tensor expected =
      from_values<std::int64_t>({3, 1, 6, 2, 0, 4, 2, 3, 1, 0, 1, 0, -100, -100, -100}, {3, 5});
};

Tensor loss_of(const PointerNetwork& model, const Sets& sets) {
  return cross_entropy(model.log_probs(sets.elements, sets.pointed), sets.expected);
}

// ---- plain twin ---------------------------------------------------------------------------------

using Row = std::vector<double>;

// The parameters by name, in double.
class Twin {
 public:
  explicit Twin(const PointerNetwork& model) : model_(model) {}

  Row values(const std::string& name) const {
    for (const NamedTensor& parameter : model_.named_parameters()) {
      if (parameter.name == name) {
        return cast_data(parameter.tensor, DType::f64).to_vector<double>();
      }
    }
    ADD_FAILURE() << "there is no " << name;
    return {};
  }
  Row linear(const std::string& weight, const std::string& bias, const Row& x) const {
    const Row w = values(weight);
    Row y(w.size() / x.size());
    for (std::size_t i = 0; i < y.size(); ++i) {
      for (std::size_t k = 0; k < x.size(); ++k) y[i] += w[i * x.size() + k] * x[k];
    }
    if (bias.empty()) return y;
    const Row b = values(bias);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += b[i];
    return y;
  }
  // One step of an LSTM; gates are in PyTorch's order i, f, g, o.
  void lstm(const std::string& name, const Row& x, Row& h, Row& c) const {
    const Row a = linear(name + ".weight_ih_l0", name + ".bias_ih_l0", x);
    const Row b = linear(name + ".weight_hh_l0", name + ".bias_hh_l0", h);
    const auto sigmoid = [](double v) { return 1.0 / (1.0 + std::exp(-v)); };
    const std::size_t H = h.size();
    for (std::size_t i = 0; i < H; ++i) {
      const auto gate = [&](std::size_t g) { return a[g * H + i] + b[g * H + i]; };
      c[i] = sigmoid(gate(1)) * c[i] + sigmoid(gate(0)) * std::tanh(gate(2));
      h[i] = sigmoid(gate(3)) * std::tanh(c[i]);
    }
  }
  // Log-probabilities of each step for one set, whose steps point at `pointed`.
  std::vector<Row> log_probs(const std::vector<Row>& elements,
                             const std::vector<std::int64_t>& pointed, bool each_once) const {
    std::vector<Row> embedded = {values("first")}, memory = {values("end")};
    Row h(memory[0].size()), c(memory[0].size());
    for (const Row& element : elements) {
      embedded.push_back(linear("elements.weight", "elements.bias", element));
      lstm("encoder", embedded.back(), h, c);
      memory.push_back(h);
    }
    std::vector<Row> all;
    std::vector<bool> taken(memory.size());
    std::size_t before = 0;
    for (const std::int64_t position : pointed) {
      lstm("decoder", embedded[before], h, c);
      const Row query = linear("pointer.query_proj.weight", "", h), v = values("pointer.v");
      Row& scores = all.emplace_back();
      double sum = 0.0;
      for (std::size_t j = 0; j < memory.size(); ++j) {
        const Row key = linear("pointer.memory_proj.weight", "", memory[j]);
        double score = 0.0;
        for (std::size_t d = 0; d < v.size(); ++d) score += v[d] * std::tanh(query[d] + key[d]);
        scores.push_back(taken[j] ? -INFINITY : score);
        sum += std::exp(scores.back());
      }
      for (double& score : scores) score -= std::log(sum);
      before = static_cast<std::size_t>(position);
      if (each_once && position > 0) taken[before] = true;
    }
    return all;
  }

 private:
  const PointerNetwork& model_;
};

TEST(PointerNetwork, EqualsItsTwin) {
  for (const bool each_once : {false, true}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      PointerNetworkConfig config = small();
      config.each_once = each_once;
      Generator generator(5);
      PointerNetwork model(config, generator);
      model.to(dtype);
      Sets sets;
      sets.elements.numbers = cast_data(sets.elements.numbers, dtype);
      const NoGrad no_grad;
      const Tensor y =
          cast_data(model.log_probs(sets.elements, sets.pointed), DType::f64);  // [3, 5, 7]
      const auto numbers = cast_data(sets.elements.numbers, DType::f64).to_vector<double>();
      const auto pointed = sets.pointed.to_vector<std::int64_t>();
      const auto lengths = sets.elements.lengths.to_vector<std::int64_t>();
      const auto values = y.to_vector<double>();
      for (std::size_t b = 0; b < 3; ++b) {
        std::vector<Row> elements;
        for (std::size_t t = 0; t < static_cast<std::size_t>(lengths[b]); ++t) {
          elements.push_back({numbers[(b * 6 + t) * 2], numbers[(b * 6 + t) * 2 + 1]});
        }
        const auto twin = Twin(model).log_probs(
            elements,
            {pointed.begin() + std::ptrdiff_t(5 * b), pointed.begin() + std::ptrdiff_t(5 * b + 5)},
            each_once);
        for (std::size_t i = 0; i < 5; ++i) {
          for (std::size_t j = 0; j < 7; ++j) {
            const double ours = values[(b * 5 + i) * 7 + j];
            if (j >= twin[i].size() || std::isinf(twin[i][j])) {
              EXPECT_EQ(ours, -INFINITY) << b << " " << i << " " << j;
            } else {
              EXPECT_NEAR(ours, twin[i][j], dtype == DType::f32 ? 1e-5 : 1e-12);
            }
          }
        }
      }
    }
  }
}

// ---- gradients ----------------------------------------------------------------------------------

TEST(PointerNetwork, EveryParameterLearns) {
  for (const Cell cell : {Cell::lstm, Cell::gru}) {
    for (const std::int64_t glimpses : {0, 2}) {
      for (const bool each_once : {false, true}) {
        PointerNetworkConfig config = small();
        config.cell = cell;
        config.glimpses = glimpses;
        config.each_once = each_once;
        Generator generator(7);
        const PointerNetwork model(config, generator);
        test::expect_learns(model, loss_of(model, {}));
      }
    }
  }
}

TEST(PointerNetwork, Gradients) {
  PointerNetworkConfig config = small();
  config.glimpses = 1;
  config.each_once = true;
  Generator generator(7);
  PointerNetwork model(config, generator);
  model.to(DType::f64);
  Sets sets;
  sets.elements.numbers = cast_data(sets.elements.numbers, DType::f64);
  const std::vector<Tensor> parameters = model.parameters();
  const GradCheckResult result =
      gradcheck([&](std::span<const Tensor>) { return loss_of(model, sets); }, parameters);
  EXPECT_TRUE(result.ok) << result.message;
}

TEST(PointerNetwork, SameBitsWithAnyThreads) {
  Generator generator(7);
  PointerNetwork model({.features = 2, .embed = 33, .hidden = 65, .glimpses = 1}, generator);
  const Sets sets;
  test::expect_same_bits_with_any_threads(model, [&] { return loss_of(model, sets); });
}

// ---- steps --------------------------------------------------------------------------------------

// Three sets whose rows change places, become more and become fewer.
TEST(PointerNetwork, StepsEqualWholeSequences) {
  for (const std::int64_t glimpses : {0, 1}) {
    for (const bool each_once : {false, true}) {
      PointerNetworkConfig config = small();
      config.glimpses = glimpses;
      config.each_once = each_once;
      Generator generator(9);
      PointerNetwork model(config, generator);
      model.eval();
      const Elements elements{randn({3, 7, 2}), lengths_of({7, 7, 5})};
      const NoGrad no_grad;
      const std::vector<std::vector<std::int64_t>> rows = {
          {2, 4, 1, 3}, {7, 6, 5, 3}, {5, 3, 1, 4}};  // without repetitions
      std::vector<std::int64_t> flat;
      for (const auto& row : rows) flat.insert(flat.end(), row.begin(), row.end());
      const Tensor chosen = from_values(std::span<const std::int64_t>(flat), {3, 4});
      const Tensor whole = exp(model.log_probs(elements, chosen));  // [3, 4, 8]
      const auto steps = model.start(elements);
      std::vector<std::int64_t> of = {0, 1, 2};
      const std::vector<std::vector<std::int64_t>> orders = {{0, 1, 2}, {2, 0, 0, 1}, {3, 1}, {1}};
      for (std::size_t t = 0; t < orders.size(); ++t) {
        steps->reorder(orders[t]);
        std::vector<std::int64_t> now, last;
        for (const std::int64_t from : orders[t]) now.push_back(of[static_cast<std::size_t>(from)]);
        of = now;
        for (const std::int64_t row : of) {
          last.push_back(t == 0 ? 0 : rows[static_cast<std::size_t>(row)][t - 1]);
        }
        const std::int64_t n = std::ssize(of);
        const Tensor p = exp(steps->step(from_values(std::span<const std::int64_t>(last), {n, 1})));
        for (std::int64_t i = 0; i < n; ++i) {
          const Tensor expected =
              row_of(row_of(whole, of[static_cast<std::size_t>(i)]), static_cast<std::int64_t>(t));
          EXPECT_LE(test::max_relative_error(row_of(row_of(p, i), 0), expected), 2e-5) << t;
        }
      }
    }
  }
}

TEST(PointerNetwork, RowsDoNotSeeEachOther) {
  Generator generator(3);
  PointerNetwork model(small(), generator);
  model.eval();
  const NoGrad no_grad;
  const Sets sets;
  Sets other = sets;
  other.elements.numbers = clone_data(sets.elements.numbers);
  float* const numbers = other.elements.numbers.mutable_data<float>();
  for (int i = 0; i < 12; ++i) numbers[i] += 1.0f;         // the first set
  for (int i = 12 + 8; i < 24; ++i) numbers[i] += 100.0f;  // after the end of the second
  const Tensor before = model.log_probs(sets.elements, sets.pointed);
  const Tensor after = model.log_probs(other.elements, other.pointed);
  EXPECT_FALSE(same_bits(row_of(after, 0), row_of(before, 0)));
  EXPECT_TRUE(same_bits(row_of(after, 1), row_of(before, 1)));
  EXPECT_TRUE(same_bits(row_of(after, 2), row_of(before, 2)));
}

TEST(PointerNetwork, WeightsAreThoseOfGlimpsesAndPointer) {
  PointerNetworkConfig config = small();
  config.glimpses = 1;
  const PointerNetwork model(config);
  const NoGrad no_grad;
  std::vector<LayerWeights> weights;
  const Sets sets;
  const Tensor y = model.log_probs(sets.elements, sets.pointed, &weights);
  ASSERT_EQ(weights.size(), 2u);
  for (const LayerWeights& layer : weights) EXPECT_EQ(layer.cross.shape(), (Shape{3, 1, 5, 7}));
  EXPECT_LE(test::max_relative_error(squeeze(weights[1].cross, 1), exp(y)), 1e-6);
}

TEST(PointerNetwork, BadInputSaysWhatIsExpected) {
  const PointerNetwork model(small());
  const Sets sets;
  EXPECT_THAT(error_message([&] {
                model.log_probs({randn({2, 3, 5})}, sets.pointed);
              }),
              HasSubstr("they must be [B, T, 2]"));
  EXPECT_THAT(error_message([&] {
                model.log_probs(sets.elements, full({3, 2}, 9.0, DType::i64));
              }),
              HasSubstr("index 9"));
  PointerNetworkConfig config = small();
  config.dropout = 1.0;
  EXPECT_THAT(error_message([&] { config.validate(); }), HasSubstr("dropout 1"));
}

}  // namespace
}  // namespace heed::pointer_network_test
