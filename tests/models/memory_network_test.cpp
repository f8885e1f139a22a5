// The memory network compared with loops in double, gradients with differences, and what its
// results depend on.
#include "heed/models/memory_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "heed/autograd/gradcheck.h"
#include "heed/autograd/tape.h"
#include "heed/ops/cross_entropy.h"
#include "tests/models/model_case.h"
#include "tests/support/error_message.h"

namespace heed::memory_network_test {
namespace {

using test::row_of;
using test::same_bits;
using testing::HasSubstr;

constexpr std::int64_t kPadding = 3;
constexpr Tying kTyings[] = {Tying::adjacent, Tying::layer_wise};

MemoryNetworkConfig small(Tying tying) {
  return {.vocabulary = test::kVocabulary,
          .padding = kPadding,
          .embed = 5,
          .hops = 3,
          .sentences = 6,
          .tying = tying,
          .init_deviation = 0.4};
}

// Three stories of 4, 2 and 0 sentences.
Stories three() {
  return {.sentences = from_values<std::int64_t>({1, 2, 4, 5, 6, 3, 7, 3, 3, 8, 9, 10,  //
                                                  4, 4, 3, 1, 2, 5, 3, 3, 3, 3, 3, 3,   //
                                                  3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3},
                                                 {3, 4, 3}),
          .ages = from_values<std::int64_t>({6, 3, 2, 1, 2, 1, 0, 0, 0, 0, 0, 0}, {3, 4}),
          .questions = from_values<std::int64_t>({1, 9, 7, 2, 3, 3, 5, 6, 3}, {3, 3})};
}

Tensor loss_of(const MemoryNetwork& model, const Stories& in) {
  return cross_entropy(model(in), from_values<std::int64_t>({4, 7, 10}, {3}));
}

// ---- plain twin ---------------------------------------------------------------------------------

using Row = std::vector<double>;

class Twin {
 public:
  Twin(const MemoryNetwork& model, const MemoryNetworkConfig& config)
      : model_(model), config_(config) {}

  Row row(const std::string& name, std::int64_t i) const {
    for (const NamedTensor& parameter : model_.every_name()) {
      if (parameter.name != name + ".weight") continue;
      const Row all = cast_data(parameter.tensor, DType::f64).to_vector<double>();
      const auto at = all.begin() + 5 * i;
      return {at, at + 5};
    }
    ADD_FAILURE() << "there is no " << name;
    return {};
  }
  // sum_j l_j * table(x_j)
  Row sum(const std::string& table, const std::vector<std::int64_t>& words) const {
    Row y(5);
    const auto J = static_cast<double>(words.size());
    for (std::size_t j = 0; j < words.size(); ++j) {
      const Row x = row(table, words[j]);
      const double at = static_cast<double>(j + 1) / J;
      for (std::size_t k = 0; k < 5; ++k) {
        const double share = static_cast<double>(k + 1) / 5.0;
        y[k] += x[k] * (config_.position_encoding ? 2 * ((1 - at) - share * (1 - 2 * at)) : 1.0);
      }
    }
    return y;
  }
  Row answer(const std::vector<std::vector<std::int64_t>>& sentences,
             const std::vector<std::int64_t>& ages, const std::vector<std::int64_t>& question,
             bool is_linear) const {
    const bool adjacent = config_.tying == Tying::adjacent;
    Row u = sum(adjacent ? "words.0" : "question", question);
    for (int hop = 0; hop < 3; ++hop) {
      const std::string a = std::to_string(adjacent ? hop : 0);
      const std::string c = std::to_string(adjacent ? hop + 1 : 1);
      Row p, o(5);
      double total = 0.0;
      for (std::size_t i = 0; i < sentences.size(); ++i) {
        const Row m = sum("words." + a, sentences[i]), t = row("ages." + a, ages[i]);
        double score = 0.0;
        for (std::size_t k = 0; k < 5; ++k) score += u[k] * (m[k] + t[k]);
        p.push_back(is_linear ? score : std::exp(score));
        total += p.back();
      }
      for (std::size_t i = 0; i < sentences.size(); ++i) {
        const Row m = sum("words." + c, sentences[i]), t = row("ages." + c, ages[i]);
        for (std::size_t k = 0; k < 5; ++k) o[k] += p[i] / (is_linear ? 1 : total) * (m[k] + t[k]);
      }
      Row next(5);
      for (std::size_t k = 0; k < 5; ++k) {
        next[k] = o[k] + (adjacent ? u[k] : 0.0);
        if (adjacent) continue;
        const Row h = row("between", static_cast<std::int64_t>(k));
        for (std::size_t d = 0; d < 5; ++d) next[k] += h[d] * u[d];
      }
      u = next;
    }
    Row scores;
    for (std::int64_t v = 0; v < test::kVocabulary; ++v) {
      const Row w = row(adjacent ? "words.3" : "answers", v);
      double score = 0.0;
      for (std::size_t k = 0; k < 5; ++k) score += w[k] * u[k];
      scores.push_back(score);
    }
    return scores;
  }

 private:
  const MemoryNetwork& model_;
  MemoryNetworkConfig config_;
};

TEST(MemoryNetwork, EqualsItsTwin) {
  for (const Tying tying : kTyings) {
    for (const bool encoded : {true, false}) {
      for (const bool is_linear : {true, false}) {
        MemoryNetworkConfig config = small(tying);
        config.position_encoding = encoded;
        config.linear_start = 2;
        Generator generator(5);
        MemoryNetwork model(config, generator);
        model.to(DType::f64);
        model.begin_epoch(is_linear ? 1 : 2);
        const NoGrad no_grad;
        const auto scores = model(three()).to_vector<double>();  // [3, V]
        const Twin twin(model, config);
        const Row expected[] = {
            twin.answer({{1, 2, 4}, {5, 6}, {7}, {8, 9, 10}}, {6, 3, 2, 1}, {1, 9, 7}, is_linear),
            twin.answer({{4, 4}, {1, 2, 5}}, {2, 1}, {2}, is_linear),
            twin.answer({}, {}, {5, 6}, is_linear)};
        for (std::size_t b = 0; b < 3; ++b) {
          for (std::size_t v = 0; v < test::kVocabulary; ++v) {
            EXPECT_NEAR(scores[b * test::kVocabulary + v], expected[b][v], 1e-12) << b << " " << v;
          }
        }
      }
    }
  }
}

// ---- gradients ----------------------------------------------------------------------------------

TEST(MemoryNetwork, EveryParameterLearns) {
  for (const Tying tying : kTyings) {
    Generator generator(7);
    const MemoryNetwork model(small(tying), generator);
    test::expect_learns(model, loss_of(model, three()));
  }
}

TEST(MemoryNetwork, Gradients) {
  for (const Tying tying : kTyings) {
    for (const std::int64_t linear_start : {0, 1}) {
      MemoryNetworkConfig config = small(tying);
      config.linear_start = linear_start;
      config.padding = {};  // a row without a gradient would differ from differences
      Generator generator(7);
      MemoryNetwork model(config, generator);
      model.to(DType::f64);
      Stories in = three();
      in.ages = from_values<std::int64_t>({6, 3, 2, 1, 4, 3, 2, 1, 5, 3, 2, 1}, {3, 4});
      const std::vector<Tensor> parameters = model.parameters();
      const GradCheckResult result =
          gradcheck([&](std::span<const Tensor>) { return loss_of(model, in); }, parameters);
      EXPECT_TRUE(result.ok) << result.message;
    }
  }
}

TEST(MemoryNetwork, SameBitsWithAnyThreads) {
  MemoryNetworkConfig config = small(Tying::adjacent);
  config.embed = 33;
  Generator generator(7);
  MemoryNetwork model(config, generator);
  test::expect_same_bits_with_any_threads(model, [&] { return loss_of(model, three()); });
}

// ---- what results depend on ---------------------------------------------------------------------

TEST(MemoryNetwork, LinearOnlyInTheFirstEpochsOfTraining) {
  MemoryNetworkConfig config = small(Tying::adjacent);
  config.linear_start = 2;
  Generator generator(3);
  MemoryNetwork model(config, generator);
  const NoGrad no_grad;
  const auto scores = [&](std::int64_t epoch) {
    model.begin_epoch(epoch);
    return model(three());
  };
  const Tensor linear = scores(0), later = scores(2);
  EXPECT_TRUE(same_bits(scores(1), linear));
  EXPECT_FALSE(same_bits(later, linear));
  model.eval();
  EXPECT_TRUE(same_bits(scores(0), later)) << "a model that is used has its softmax";
}

TEST(MemoryNetwork, WeightsOfEachHop) {
  Generator generator(3);
  const MemoryNetwork model(small(Tying::adjacent), generator);
  const NoGrad no_grad;
  std::vector<LayerWeights> weights;
  model(three(), &weights);
  ASSERT_EQ(weights.size(), 3u);
  for (const LayerWeights& hop : weights) {
    ASSERT_EQ(hop.cross.shape(), (Shape{3, 1, 1, 4}));
    const std::vector<float> sums = sum(hop.cross, {1, 2, 3}).to_vector<float>();
    EXPECT_NEAR(sums[0], 1.0f, 1e-6f);
    EXPECT_NEAR(sums[1], 1.0f, 1e-6f);
    EXPECT_EQ(sums[2], 0.0f) << "there is no sentence";
    EXPECT_EQ(hop.cross.to_vector<float>()[6], 0.0f) << "after the end of the second story";
  }
}

TEST(MemoryNetwork, RowsDoNotSeeEachOther) {
  Generator generator(3);
  const MemoryNetwork model(small(Tying::adjacent), generator);
  const NoGrad no_grad;
  const Stories in = three();
  Stories other = in;
  other.sentences = clone_data(in.sentences);
  other.sentences.mutable_data<std::int64_t>()[0] = 9;           // the first story
  other.sentences.mutable_data<std::int64_t>()[12 + 3 * 2] = 9;  // after the end of the second
  const Tensor before = model(in), after = model(other);
  EXPECT_FALSE(same_bits(row_of(after, 0), row_of(before, 0)));
  EXPECT_TRUE(same_bits(row_of(after, 1), row_of(before, 1)));
  EXPECT_TRUE(same_bits(row_of(after, 2), row_of(before, 2)));
}

TEST(MemoryNetwork, BadConfigsAndInputsAreErrors) {
  MemoryNetworkConfig config = small(Tying::adjacent);
  config.hops = 0;
  EXPECT_THAT(error_message([&] { MemoryNetwork model(config); }), HasSubstr("0 hops"));
  config = small(Tying::adjacent);
  config.noise = 2.0;
  EXPECT_THAT(error_message([&] { MemoryNetwork model(config); }), HasSubstr("noise 2"));
  const MemoryNetwork model(small(Tying::adjacent));
  Stories in = three();
  in.ages = full({3, 4}, 7.0, DType::i64);
  EXPECT_THAT(error_message([&] { model(in); }), HasSubstr("a sentence of age 7"));
  in.ages = full({3, 5}, 1.0, DType::i64);
  EXPECT_THAT(error_message([&] { model(in); }), HasSubstr("ages [3, 5]"));
}

}  // namespace
}  // namespace heed::memory_network_test
