// Scores of any finite size: a finite score is a score, whatever its size, and only -inf and masks
// hide. The tiled kernels against the plain ones, with biases of both signs up to the largest
// numbers, at any place of a row, on every instruction set.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "heed/kernels/attention/decode.h"
#include "heed/kernels/attention/stages/dense_bias.h"
#include "heed/kernels/attention/stages/dropout.h"
#include "heed/kernels/attention/stages/soft_cap.h"
#include "tests/kernels/attention/attention_problem.h"
#include "tests/support/isa_guard.h"
#include "tests/support/sanitized.h"

namespace heed::kernels::test {
namespace {

using heed::test::for_each_isa;

constexpr float kSizes[] = {2.9e6f, 1e7f, 1e10f, 1e20f, 1e30f, 3e38f};

/// Which keys of row i have the huge score.
struct Pattern {
  const char* name;
  bool (*huge)(std::int64_t i, std::int64_t j, std::int64_t keys);
};
constexpr Pattern kPatterns[] = {
    {"start", [](auto, auto j, auto n) { return j < std::max<std::int64_t>(64, n / 2); }},
    {"middle", [](auto, auto j, auto n) { return j >= n / 3 && j < n / 3 + 70; }},
    {"end", [](auto i, auto j, auto n) { return j >= n - 1 - i % 40; }},
    {"alternating", [](auto i, auto j, auto) { return (i + j) % 2 == 0; }},
    {"first key", [](auto, auto j, auto) { return j == 0; }},
    {"last key", [](auto, auto j, auto n) { return j == n - 1; }},
    {"all but the last", [](auto, auto j, auto n) { return j < n - 1; }},
    {"all", [](auto, auto, auto) { return true; }},
    {"all of some rows", [](auto i, auto, auto) { return i % 5 == 2; }},
};

/// Rounds scores to floats, as the tiled kernels in f32 do.
class Rounded : public TileStage<double> {
 public:
  void forward(const Tile<double>& tile, StageSpace<double>) const override {
    for (std::int64_t c = 0; c < tile.cols; ++c) {
      for (std::int64_t r = 0; r < tile.rows; ++r) {
        tile.at(c, r) = static_cast<double>(static_cast<float>(tile.at(c, r)));
      }
    }
  }
  void backward(const Tile<double>&, StageSpace<double>) const override {}
};

/// A bias [Tq, Tk] and its gradient as a stage.
template <typename T>
struct Bias {
  std::vector<T> values, gradient;
  DenseBias<T> stage;

  Bias(const std::vector<float>& x, std::int64_t keys)
      : values(x.begin(), x.end()),
        gradient(x.size()),
        stage({{values.data(), 0, 0, keys}, {gradient.data(), 0, 0, keys}, keys}) {}
  Bias(const Bias&) = delete;
  Bias& operator=(const Bias&) = delete;
};

/// A problem with a bias. All products of queries and keys are exact in f32, so that the scores of
/// both precisions are the same.
struct Biased {
  AttentionProblem problem;
  Bias<float> fast;
  Bias<double> plain;
  Rounded rounded;
  SoftCap<float> cap{30.0f};
  SoftCap<double> plain_cap{30.0};
  WeightDropout<float> dropout{WeightMask({5, 6}, 0.25)};
  WeightDropout<double> plain_dropout{WeightMask({5, 6}, 0.25)};
  std::vector<TileStage<float>*> modify{&fast.stage}, reweight;
  std::vector<TileStage<double>*> plain_modify{&plain.stage, &rounded}, plain_reweight;

  Biased(const AttentionShape& s, const std::vector<float>& bias)
      : problem(s), fast(bias, s.Tk), plain(bias, s.Tk) {
    problem.f.scale = 1.0f, problem.d.scale = 1.0;
    halves(problem.fast.q, problem.plain.q);
    halves(problem.fast.k, problem.plain.k);
  }
  static void halves(std::vector<float>& f, std::vector<double>& d) {
    for (float& x : f) x = std::nearbyint(2.0f * x) / 2.0f;
    d.assign(f.begin(), f.end());
  }

  void expect_equal(const std::string& what) {
    problem.f.modifiers = modify, problem.d.modifiers = plain_modify;
    problem.f.reweights = reweight, problem.d.reweights = plain_reweight;
    problem.run_plain();
    for_each_isa([&](Isa isa) {
      std::fill(fast.gradient.begin(), fast.gradient.end(), 0.0f);
      problem.run_fast();
      const std::string where = fmt::format("{} on {}", what, name_of(isa));
      problem.expect_forward_equal(3e-6, where);
      problem.expect_backward_equal(3e-5, where);
      for (std::size_t i = 0; i < fast.gradient.size(); ++i) {
        ASSERT_NEAR(fast.gradient[i], plain.gradient[i], 3e-5) << where << ", bias " << i;
      }
      expect_tiled_equal(where + " in f64");
    });
  }
  void expect_tiled_equal(const std::string& where) {
    const std::vector<double> expected = plain.gradient;
    std::fill(plain.gradient.begin(), plain.gradient.end(), 0.0);
    problem.run_tiled();
    problem.expect_tiled_equal(1e-12, where);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(plain.gradient[i], expected[i], 1e-12) << where << ", bias " << i;
    }
    plain.gradient = expected;
  }
};

std::vector<float> bias_of(const Pattern& pattern, float size, const AttentionShape& s) {
  std::vector<float> bias;
  for (std::int64_t i = 0; i < s.Tq; ++i) {
    for (std::int64_t j = 0; j < s.Tk; ++j) {
      bias.push_back(pattern.huge(i, j, s.Tk) ? size : 0.0f);
    }
  }
  return bias;
}

template <typename F>
void for_each_bias(const AttentionShape& s, const F& f) {
  for (const Pattern& pattern : kPatterns) {
    for (const float size : kSizes) {
      if (heed::test::is_sanitized() && size != kSizes[0])
        continue;  // the same accesses for every size
      for (const float sign : {-1.0f, 1.0f}) {
        f(bias_of(pattern, sign * size, s), fmt::format("{} {}", pattern.name, sign * size));
      }
    }
  }
}

TEST(HugeScores, AnyPlaceOfARow) {
  for (const std::int64_t keys : {100, 300}) {
    const AttentionShape shape{1, 2, 1, 67, keys, 8, 5};
    for_each_bias(shape, [&](const std::vector<float>& bias, const std::string& what) {
      Biased(shape, bias).expect_equal(fmt::format("{} keys, {}", keys, what));
    });
  }
}

// Between ordinary and huge. Without fused multiply-add, the rounding error of such a score counts.
TEST(HugeScores, AroundTheLimitOfOrdinaryOnes) {
  const AttentionShape shape{1, 1, 1, 30, 200, 4, 4};
  for (const float size : {1e3f, 1e5f, 1.45e6f, 1.46e6f}) {
    for (const float sign : {-1.0f, 1.0f}) {
      Biased x(shape, bias_of(kPatterns[0], sign * size, shape));
      x.problem.f.modifiers = x.modify, x.problem.d.modifiers = x.plain_modify;
      x.problem.run_plain();
      for_each_isa([&](Isa isa) {
        x.problem.run_fast();
        const double tolerance = isa == Isa::sse4 ? 3e-7 * size : 3e-6;
        x.problem.expect_forward_equal(tolerance, fmt::format("{} on {}", size, name_of(isa)));
      });
    }
  }
}

TEST(HugeScores, LongRows) {
  const AttentionShape shape{1, 1, 1, 20, 1024, 8, 8};
  for (const float size : {-1e10f, -1e30f, 1e20f}) {
    for (const Pattern& pattern : {kPatterns[0], kPatterns[4]}) {
      Biased(shape, bias_of(pattern, size, shape)).expect_equal(fmt::format("{}", size));
    }
  }
}

TEST(HugeScores, OfBothSignsAndManySizes) {
  const AttentionShape shape{1, 1, 1, 60, 500, 4, 4};
  for (const int variant : {0, 1, 2}) {
    std::vector<float> bias;
    for (std::int64_t i = 0; i < shape.Tq; ++i) {
      for (std::int64_t j = 0; j < shape.Tk; ++j) {
        const double way = static_cast<double>(j) / static_cast<double>(shape.Tk);
        const double rising = std::pow(10.0, 38.0 * way) * (variant == 0 ? 1.0 : -1.0);
        const double mixed = (j * 7 + i) % 3 == 0 ? rising : -rising;
        bias.push_back(static_cast<float>(variant == 2 ? mixed : rising));
      }
    }
    Biased(shape, bias).expect_equal(fmt::format("variant {}", variant));
  }
}

// The rows of a block are independent: huge scores of one leave the bits of the others alone.
TEST(HugeScores, LeaveTheOtherRowsAlone) {
  const AttentionShape shape{1, 1, 1, 64, 300, 8, 8};
  const std::vector<float> none(static_cast<std::size_t>(shape.Tq * shape.Tk));
  Biased ordinary(shape, none);
  ordinary.problem.f.modifiers = ordinary.modify;
  for_each_isa([&](Isa isa) {
    ordinary.problem.run_fast();
    for (const float size : {-1e10f, -1e30f}) {
      std::vector<float> bias = none;
      std::fill_n(bias.begin() + 5 * shape.Tk, shape.Tk, size);
      Biased huge(shape, bias);
      huge.problem.f.modifiers = huge.modify;
      huge.problem.run_fast();
      for (std::size_t e = 0; e < ordinary.problem.fast.output.size(); ++e) {
        if (e / 8 == 5) continue;
        ASSERT_EQ(huge.problem.fast.output[e], ordinary.problem.fast.output[e]) << name_of(isa);
        ASSERT_EQ(huge.problem.fast.dq[e], ordinary.problem.fast.dq[e]) << name_of(isa);
      }
    }
  });
}

TEST(HugeScores, WithEveryOtherStage) {
  const AttentionShape shape{1, 2, 2, 50, 200, 8, 8};
  const TestMask causal([](auto, auto, auto i, auto j) { return j <= 3 * i; });
  const TestMask holes([](auto, auto h, auto i, auto j) { return (i + 3 * j + h) % 4 < 2; },
                       TestMask::Answers::nothing);
  for_each_bias(shape, [&](const std::vector<float>& bias, const std::string& what) {
    for (const int variant : {0, 1, 2, 3, 4, 5}) {
      Biased x(shape, bias);
      if (variant == 0) x.problem.f.top_k = x.problem.d.top_k = 5;
      if (variant == 1) x.reweight = {&x.dropout}, x.plain_reweight = {&x.plain_dropout};
      if (variant == 2) x.problem.f.mask = x.problem.d.mask = &causal;
      if (variant == 3) x.problem.f.mask = x.problem.d.mask = &holes;
      if (variant == 4) x.problem.with_scales = false;
      if (variant == 5) {
        x.modify.push_back(&x.cap);
        x.plain_modify.push_back(&x.plain_cap);
      }
      x.expect_equal(fmt::format("{}, variant {}", what, variant));
    }
  });
}

TEST(HugeScores, OfSinks) {
  const AttentionShape shape{1, 2, 2, 40, 130, 8, 8};
  for (const float size : {-3e38f, -1e10f, -1e7f, 0.0f, 1e7f, 1e10f, 3e38f}) {
    for (const float sink : {-3e38f, -1e10f, -1e7f, 0.5f, 1e7f, 1e10f, 3e38f}) {
      Biased x(shape, bias_of(kPatterns[7], size, shape));
      const float sinks[] = {sink, 0.0f};
      const double plain_sinks[] = {sink, 0.0};
      float ds[2] = {};
      double dd[2] = {};
      x.problem.f.sinks = sinks, x.problem.d.sinks = plain_sinks;
      x.problem.d_sinks_fast = ds, x.problem.d_sinks_plain = dd;
      for (const bool with_scales : {true, false}) {
        x.problem.with_scales = with_scales;
        x.problem.f.modifiers = x.modify, x.problem.d.modifiers = x.plain_modify;
        dd[0] = dd[1] = 0.0;
        x.problem.run_plain();
        for_each_isa([&](Isa) {
          ds[0] = ds[1] = 0.0f;
          x.problem.run_fast();
          const std::string what = fmt::format("scores {}, sink {}", size, sink);
          x.problem.expect_forward_equal(3e-6, what);
          x.problem.expect_backward_equal(3e-5, what);
          for (const int h : {0, 1}) EXPECT_NEAR(ds[h], dd[h], 1e-4) << what;
        });
      }
    }
  }
}

TEST(HugeScores, OfPackedSequences) {
  const std::int64_t q_starts[] = {0, 20, 45}, k_starts[] = {0, 150, 290};
  const AttentionShape shape{2, 1, 1, 25, 150, 8, 8, q_starts, k_starts};
  for_each_bias(shape, [&](const std::vector<float>& bias, const std::string& what) {
    Biased(shape, bias).expect_equal(what);
  });
}

// Without stages, scores are products of queries and keys alone.
TEST(HugeScores, OfProducts) {
  const AttentionShape shape{1, 1, 1, 50, 300, 1, 4};
  for_each_bias({1, 1, 1, 1, 300, 1, 4},
                [&](const std::vector<float>& keys, const std::string& what) {
                  AttentionProblem problem(shape);
                  problem.f.scale = 1.0f, problem.d.scale = 1.0;
                  problem.fast.q.assign(50, 1.0f), problem.plain.q.assign(50, 1.0);
                  problem.fast.k = keys, problem.plain.k.assign(keys.begin(), keys.end());
                  problem.run_plain();
                  for_each_isa([&](Isa isa) {
                    problem.run_fast();
                    const std::string where = fmt::format("{} on {}", what, name_of(isa));
                    problem.expect_forward_equal(3e-6, where);
                    for (std::size_t i = 0; i < problem.fast.dv.size(); ++i) {
                      ASSERT_NEAR(problem.fast.dv[i], problem.plain.dv[i], 3e-5) << where;
                    }
                    // dq is a sum of keys, which may cancel.
                    for (const float x : problem.fast.dk) ASSERT_TRUE(std::isfinite(x)) << where;
                  });
                });
}

TEST(HugeScores, UpToTheLargestDouble) {
  const AttentionShape shape{1, 2, 1, 50, 300, 8, 5};
  for (const Pattern& pattern : kPatterns) {
    for (const double size : {-1e308, -1e20, 1e7, 1e20, 1e308}) {
      Biased x(shape, bias_of(pattern, 1.0f, shape));
      for (double& b : x.plain.values) b *= size;
      x.plain_modify = {&x.plain.stage};
      x.problem.d.modifiers = x.plain_modify;
      x.problem.run_plain();
      for_each_isa([&](Isa isa) {
        x.expect_tiled_equal(fmt::format("{} {} on {}", pattern.name, size, name_of(isa)));
      });
    }
  }
}

// Without stages, where the keys are the scores. dq, a sum of huge keys that cancel, is not
// compared.
TEST(HugeScores, OfProductsInF64) {
  const AttentionShape shape{1, 1, 1, 50, 300, 1, 4};
  for (const Pattern& pattern : kPatterns) {
    for (const double size : {-1e308, -1e20, 1e7, 1e20, 1e308}) {
      AttentionProblem problem(shape);
      problem.d.scale = 1.0;
      problem.plain.q.assign(50, 1.0);
      const std::vector<float> huge = bias_of(pattern, 1.0f, {1, 1, 1, 1, 300, 1, 4});
      for (std::size_t j = 0; j < huge.size(); ++j) problem.plain.k[j] = size * huge[j];
      problem.run_plain();
      for_each_isa([&](Isa isa) {
        problem.run_tiled();
        const std::string where = fmt::format("{} {} on {}", pattern.name, size, name_of(isa));
        for (std::size_t i = 0; i < problem.tiled.output.size(); ++i) {
          ASSERT_NEAR(problem.tiled.output[i], problem.plain.output[i], 1e-13) << where;
        }
        for (std::size_t i = 0; i < problem.tiled.dv.size(); ++i) {
          ASSERT_NEAR(problem.tiled.dv[i], problem.plain.dv[i], 1e-12) << where;
        }
      });
    }
  }
}

// Few queries, also with parts of keys that have different references.
TEST(HugeScores, InDecoding) {
  for (const std::int64_t keys : {100, 2500}) {
    const AttentionShape shape{1, 2, 1, 3, keys, 8, 5};
    for_each_bias(shape, [&](const std::vector<float>& bias, const std::string& what) {
      Biased x(shape, bias);
      x.problem.f.modifiers = x.modify, x.problem.d.modifiers = x.plain_modify;
      x.problem.run_plain();
      for_each_isa([&](Isa isa) {
        AttentionArrays<float>& a = x.problem.fast;
        a.output.assign(x.problem.plain.output.size(), 7.0f);
        a.log_sum_exp.assign(x.problem.plain.log_sum_exp.size(), 7.0f);
        DecodeCall<float> call;  // [B, T, H, width]
        call.q = {a.q.data(), 0, 8, 16};
        call.k = {a.k.data(), 0, 8, 8};
        call.v = {a.v.data(), 0, 5, 5};
        call.output = {a.output.data(), 0, 5, 10};
        call.log_sum_exp = {a.log_sum_exp.data(), 0, 3, 1};
        attention_decode(x.problem.f, call);
        x.problem.expect_forward_equal(3e-6,
                                       fmt::format("{} keys, {} on {}", keys, what, name_of(isa)));
      });
    });
  }
}

}  // namespace
}  // namespace heed::kernels::test
