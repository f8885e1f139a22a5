// Readers compared with loops in double, gradients with differences, and what their results depend
// on.
#include "heed/models/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "heed/autograd/gradcheck.h"
#include "heed/autograd/tape.h"
#include "heed/io/config.h"
#include "tests/models/model_case.h"
#include "tests/support/error_message.h"

namespace heed::reader_test {
namespace {

using test::lengths_of;
using test::row_of;
using test::same_bits;
using testing::HasSubstr;

constexpr ReaderAttention kBoth[] = {ReaderAttention::over_attention, ReaderAttention::sum};

ReaderConfig small(ReaderAttention attention) {
  return {.vocabulary = test::kVocabulary,
          .embed = 5,
          .hidden = 3,
          .attention = attention,
          .dropout = 0.0};
}

// Three passages of 7, 4 and 1 words with questions of 3, 5 and 1.
Passages three() {
  return {.words = test::random_ids(3, 7, 1),
          .lengths = lengths_of({7, 4, 1}),
          .questions = test::random_ids(3, 5, 2),
          .question_lengths = lengths_of({3, 5, 1})};
}

Tensor candidates() {
  return from_values<std::int64_t>(
      {0, 1, 0, 2, 1, 3, 4, 0, 0, 1, 2, -1, -1, -1, 0, -1, -1, -1, -1, -1, -1}, {3, 7});
}

Tensor loss_of(const Reader& model, const Passages& in) {
  const Tensor answers = from_values<std::int64_t>({1, 0, 0}, {3, 1});
  return -sum(log(candidate_scores(model(in), candidates(), answers)));
}

// ---- plain twin ---------------------------------------------------------------------------------

using Row = std::vector<double>;

class Twin {
 public:
  explicit Twin(const Reader& model) : model_(model) {}

  Row values(const std::string& name) const {
    for (const NamedTensor& parameter : model_.named_parameters()) {
      if (parameter.name == name) {
        return cast_data(parameter.tensor, DType::f64).to_vector<double>();
      }
    }
    ADD_FAILURE() << "there is no " << name;
    return {};
  }
  Row linear(const std::string& name, const std::string& end, const Row& x) const {
    const Row w = values(name + ".weight_" + end);
    Row y = values(name + ".bias_" + end);
    for (std::size_t i = 0; i < y.size(); ++i) {
      for (std::size_t k = 0; k < x.size(); ++k) y[i] += w[i * x.size() + k] * x[k];
    }
    return y;
  }
  // The states of both directions of a GRU for each word; gates are in PyTorch's order r, z, n.
  std::vector<Row> states(const std::string& name, const std::vector<std::int64_t>& ids) const {
    const Row table = values("words.weight");
    const std::size_t E = 5, H = 3, T = ids.size();
    std::vector<Row> all(T, Row(2 * H));
    for (const bool reverse : {false, true}) {
      const std::string end = reverse ? "_l0_reverse" : "_l0";
      Row h(H);
      for (std::size_t step = 0; step < T; ++step) {
        const std::size_t t = reverse ? T - 1 - step : step;
        const auto at = table.begin() + static_cast<std::ptrdiff_t>(E) * ids[t];
        const Row a = linear(name, "ih" + end, Row(at, at + static_cast<std::ptrdiff_t>(E)));
        const Row b = linear(name, "hh" + end, h);
        const auto sigmoid = [](double v) { return 1.0 / (1.0 + std::exp(-v)); };
        for (std::size_t i = 0; i < H; ++i) {
          const double r = sigmoid(a[i] + b[i]), z = sigmoid(a[H + i] + b[H + i]);
          const double n = std::tanh(a[2 * H + i] + r * b[2 * H + i]);
          h[i] = (1.0 - z) * n + z * h[i];
        }
        std::copy(h.begin(), h.end(), all[t].begin() + (reverse ? 3 : 0));
      }
    }
    return all;
  }
  static double dot(const Row& a, const Row& b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  }
  static Row softmax(Row x) {
    double sum = 0.0;
    for (double& v : x) sum += v = std::exp(v);
    for (double& v : x) v /= sum;
    return x;
  }

  // The probabilities of the words of a passage.
  Row probabilities(const std::vector<std::int64_t>& passage,
                    const std::vector<std::int64_t>& question, ReaderAttention attention) const {
    const std::vector<Row> h = states("passage", passage), q = states("question", question);
    Row p(h.size());
    if (attention == ReaderAttention::sum) {
      Row query = q.back();  // forward
      std::copy(q[0].begin() + 3, q[0].end(), query.begin() + 3);
      for (std::size_t i = 0; i < h.size(); ++i) p[i] = dot(h[i], query);
      return softmax(p);
    }
    Row beta(q.size());
    for (const Row& state : h) {
      Row scores;
      for (const Row& word : q) scores.push_back(dot(state, word));
      scores = softmax(scores);
      for (std::size_t j = 0; j < q.size(); ++j) {
        beta[j] += scores[j] / static_cast<double>(h.size());
      }
    }
    for (std::size_t j = 0; j < q.size(); ++j) {
      Row alpha;
      for (const Row& state : h) alpha.push_back(dot(state, q[j]));
      alpha = softmax(alpha);
      for (std::size_t i = 0; i < h.size(); ++i) p[i] += alpha[i] * beta[j];
    }
    return p;
  }

 private:
  const Reader& model_;
};

TEST(Reader, EqualsItsTwin) {
  for (const ReaderAttention attention : kBoth) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      Generator generator(5);
      Reader model(small(attention), generator);
      model.to(dtype);
      const NoGrad no_grad;
      const Passages in = three();
      const auto p = cast_data(model(in), DType::f64).to_vector<double>();  // [3, 7]
      const auto words = in.words.to_vector<std::int64_t>();
      const auto asked = in.questions.to_vector<std::int64_t>();
      const std::ptrdiff_t lengths[] = {7, 4, 1}, question_lengths[] = {3, 5, 1};
      for (std::size_t b = 0; b < 3; ++b) {
        const auto passage = words.begin() + static_cast<std::ptrdiff_t>(7 * b);
        const auto question = asked.begin() + static_cast<std::ptrdiff_t>(5 * b);
        const Row twin = Twin(model).probabilities(
            {passage, passage + lengths[b]}, {question, question + question_lengths[b]}, attention);
        double sum = 0.0;
        for (std::size_t t = 0; t < 7; ++t) {
          const double expected = t < twin.size() ? twin[t] : 0.0;
          EXPECT_NEAR(p[7 * b + t], expected, dtype == DType::f32 ? 1e-6 : 1e-13) << b << " " << t;
          sum += p[7 * b + t];
        }
        EXPECT_NEAR(sum, 1.0, 1e-6);
      }
    }
  }
}

// ---- gradients ----------------------------------------------------------------------------------

TEST(Reader, EveryParameterLearns) {
  for (const ReaderAttention attention : kBoth) {
    for (const Cell cell : {Cell::gru, Cell::lstm}) {
      ReaderConfig config = small(attention);
      config.cell = cell;
      Generator generator(7);
      const Reader model(config, generator);
      test::expect_learns(model, loss_of(model, three()));
    }
  }
}

TEST(Reader, Gradients) {
  for (const ReaderAttention attention : kBoth) {
    Generator generator(7);
    Reader model(small(attention), generator);
    model.to(DType::f64);
    const Passages in = three();
    const std::vector<Tensor> parameters = model.parameters();
    const GradCheckResult result =
        gradcheck([&](std::span<const Tensor>) { return loss_of(model, in); }, parameters);
    EXPECT_TRUE(result.ok) << result.message;
  }
}

TEST(Reader, SameBitsWithAnyThreads) {
  for (const ReaderAttention attention : kBoth) {
    ReaderConfig config = small(attention);
    config.embed = 33;
    config.hidden = 17;
    Generator generator(7);
    Reader model(config, generator);
    const Passages in = three();
    test::expect_same_bits_with_any_threads(model, [&] { return loss_of(model, in); });
  }
}

// ---- what results depend on ---------------------------------------------------------------------

TEST(Reader, RowsAndPaddingDoNotMatter) {
  for (const ReaderAttention attention : kBoth) {
    Generator generator(3);
    const Reader model(small(attention), generator);
    const NoGrad no_grad;
    const Passages in = three();
    Passages other = in;
    other.words = test::with_other_tokens(test::with_other_tokens(in.words, 0, 2), 1, 4);
    other.questions = test::with_other_tokens(in.questions, 2, 1);
    const Tensor before = model(in), after = model(other);
    EXPECT_FALSE(same_bits(row_of(after, 0), row_of(before, 0)));
    EXPECT_TRUE(same_bits(row_of(after, 1), row_of(before, 1))) << "after the end of its passage";
    EXPECT_TRUE(same_bits(row_of(after, 2), row_of(before, 2))) << "after the end of its question";
  }
}

TEST(Reader, WeightsAreThoseOfTheQuestionsWords) {
  for (const ReaderAttention attention : kBoth) {
    Generator generator(3);
    const Reader model(small(attention), generator);
    const NoGrad no_grad;
    std::vector<LayerWeights> weights;
    const Tensor p = model(three(), &weights);
    ASSERT_EQ(weights.size(), 1u);
    const std::int64_t rows = attention == ReaderAttention::sum ? 1 : 5;
    EXPECT_EQ(weights[0].cross.shape(), (Shape{3, 1, rows, 7}));
    EXPECT_LE(test::max_relative_error(sum(weights[0].cross, {1, 2}), p), 1e-6);
  }
}

TEST(Reader, BadConfigsAndInputsAreErrors) {
  ReaderConfig config = small(ReaderAttention::sum);
  config.dropout = 1.0;
  EXPECT_THAT(error_message([&] { Reader model(config); }), HasSubstr("dropout 1"));
  config = {.vocabulary = 0};
  EXPECT_THAT(error_message([&] { Reader model(config); }), HasSubstr("give its size"));
  EXPECT_THAT(error_message([&] { io::load_toml("attention = \"max\"", config); }),
              HasSubstr("attention_over_attention"));
  const Reader model(small(ReaderAttention::sum));
  EXPECT_THAT(error_message([&] {
                model({.words = zeros({2, 3}, DType::i64), .questions = zeros({1, 3}, DType::i64)});
              }),
              HasSubstr("they must be [B, T] and [B, S]"));
}

}  // namespace
}  // namespace heed::reader_test
