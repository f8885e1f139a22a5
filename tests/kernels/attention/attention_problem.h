// One attention problem in both precisions: the tiled kernels in f32 and in f64, and the plain ones
// in double, on the same random operands.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "heed/kernels/attention/backward.h"
#include "heed/kernels/attention/forward.h"
#include "heed/kernels/reference/attention.h"
#include "tests/support/values.h"

namespace heed::kernels::test {

/// A mask from a function; its intervals can be made inexact.
class TestMask : public Visibility {
 public:
  using Sees = std::function<bool(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j)>;
  enum class Answers { exact, hull, nothing };
  explicit TestMask(Sees sees, Answers answers = Answers::exact)
      : sees_(std::move(sees)), answers_(answers) {}

  bool intervals(const Region& r, std::int64_t* first, std::int64_t* last) const override {
    for (std::int64_t i = 0; i < r.rows; ++i) {
      first[i] = 0;
      last[i] = r.cols;
      if (answers_ == Answers::nothing) continue;
      while (last[i] > 0 && !sees_(r.batch, r.head, r.row + i, last[i] - 1)) --last[i];
      while (first[i] < last[i] && !sees_(r.batch, r.head, r.row + i, first[i])) ++first[i];
    }
    return answers_ == Answers::exact;
  }
  Cover cover(const Region& r) const override {
    std::int64_t seen = 0;
    for (std::int64_t i = r.row; i < r.row + r.rows; ++i) {
      for (std::int64_t j = r.col; j < r.col + r.cols; ++j) seen += sees_(r.batch, r.head, i, j);
    }
    return seen == 0 ? Cover::none : seen == r.rows * r.cols ? Cover::all : Cover::some;
  }
  void fill(const Region& r, std::uint8_t* seen, std::int64_t stride) const override {
    for (std::int64_t j = 0; j < r.cols; ++j) {
      for (std::int64_t i = 0; i < r.rows; ++i) {
        seen[j * stride + i] = sees_(r.batch, r.head, r.row + i, r.col + j);
      }
    }
  }

 private:
  Sees sees_;
  Answers answers_;
};

/// The operands and results of a problem in one precision.
template <typename T>
struct AttentionArrays {
  std::vector<T> q, k, v, d_output, d_log_sum_exp, output, log_sum_exp, dq, dk, dv;
  std::vector<RowCut<T>> cuts;
  std::vector<RowScale<T>> scales;
};

struct AttentionProblem {
  AttentionShape shape;
  AttentionProgram<float> f;  // stages, masks and normaliser; the double one is set beside it
  AttentionProgram<double> d;
  AttentionArrays<float> fast;
  AttentionArrays<double> plain;
  AttentionArrays<double> tiled;  // of the tiled kernels, with the program of the plain ones

  explicit AttentionProblem(const AttentionShape& s, float scale = 1.0f) : shape(s) {
    f.shape = d.shape = s;
    d.scale = 1.0 / std::sqrt(static_cast<double>(std::max<std::int64_t>(s.D, 1)));
    f.scale = static_cast<float>(d.scale);
    d.scale = f.scale;
    fill(fast.q, plain.q, q_rows() * s.H * s.D, 1, scale);
    fill(fast.k, plain.k, k_rows() * s.G * s.D, 2, 1.0f);
    fill(fast.v, plain.v, k_rows() * s.G * s.Dv, 3, 1.0f);
    fill(fast.d_output, plain.d_output, q_rows() * s.H * s.Dv, 4, 1.0f);
    fill(fast.d_log_sum_exp, plain.d_log_sum_exp, q_rows() * s.H, 5, 1.0f);
  }

  std::int64_t q_rows() const {
    return shape.q_starts ? shape.q_starts[shape.B] : shape.B * shape.Tq;
  }
  std::int64_t k_rows() const {
    return shape.k_starts ? shape.k_starts[shape.B] : shape.B * shape.Tk;
  }

  void run_fast() { run(f, fast); }
  void run_plain() {
    const reference::PlainAttention on_the_twin;
    run(d, plain);
  }
  /// The tiled kernels in f64, on the operands of the plain ones.
  void run_tiled() {
    tiled = plain;
    run(d, tiled);
  }

  /// Runs forward in both precisions and compares the results.
  void expect_forward_equal(double tolerance, const std::string& what) {
    expect_near(fast.output, plain.output, tolerance, what + ": output");
    expect_near(fast.log_sum_exp, plain.log_sum_exp, tolerance, what + ": log-sum-exp");
  }
  void expect_backward_equal(double tolerance, const std::string& what) {
    expect_near(fast.dq, plain.dq, tolerance, what + ": dq");
    expect_near(fast.dk, plain.dk, tolerance, what + ": dk");
    expect_near(fast.dv, plain.dv, tolerance, what + ": dv");
  }

  /// Compares the results of run_tiled with those of run_plain.
  void expect_tiled_equal(double tolerance, const std::string& what) {
    expect_near(tiled.output, plain.output, tolerance, what + ": output");
    expect_near(tiled.log_sum_exp, plain.log_sum_exp, tolerance, what + ": log-sum-exp");
    expect_near(tiled.dq, plain.dq, tolerance, what + ": dq");
    expect_near(tiled.dk, plain.dk, tolerance, what + ": dk");
    expect_near(tiled.dv, plain.dv, tolerance, what + ": dv");
  }

  template <typename T>
  void run(AttentionProgram<T>& program, AttentionArrays<T>& x) {
    const AttentionShape& s = shape;
    x.output.assign(static_cast<std::size_t>(q_rows() * s.H * s.Dv), T(7));
    x.log_sum_exp.assign(static_cast<std::size_t>(q_rows() * s.H), T(7));
    x.cuts.resize(static_cast<std::size_t>(q_rows() * s.H));
    x.scales.assign(with_scales ? x.cuts.size() : 0, {});
    x.dq.assign(x.q.size(), T(7));
    x.dk.assign(x.k.size(), T(7));
    x.dv.assign(x.v.size(), T(7));
    AttentionForward<T> forward;
    forward.q = queries<const T>(x.q.data(), s.D);
    forward.k = keys<const T>(x.k.data(), s.D);
    forward.v = keys<const T>(x.v.data(), s.Dv);
    forward.output = queries<T>(x.output.data(), s.Dv);
    forward.log_sum_exp = row_numbers<T>(x.log_sum_exp.data());
    forward.cuts = row_numbers<RowCut<T>>(x.cuts.data());
    if (with_scales) forward.scales = row_numbers<RowScale<T>>(x.scales.data());
    attention_forward(program, forward);
    AttentionBackward<T> backward;
    backward.q = forward.q;
    backward.k = forward.k;
    backward.v = forward.v;
    backward.output = queries<const T>(x.output.data(), s.Dv);
    backward.log_sum_exp = row_numbers<const T>(x.log_sum_exp.data());
    backward.cuts = row_numbers<const RowCut<T>>(x.cuts.data());
    if (with_scales) backward.scales = row_numbers<const RowScale<T>>(x.scales.data());
    backward.d_output = queries<const T>(x.d_output.data(), s.Dv);
    backward.d_log_sum_exp = row_numbers<const T>(x.d_log_sum_exp.data());
    backward.dq = queries<T>(x.dq.data(), s.D);
    backward.dk = keys<T>(x.dk.data(), s.D);
    backward.dv = keys<T>(x.dv.data(), s.Dv);
    if constexpr (std::is_same_v<T, float>) {
      backward.d_sinks = d_sinks_fast;
      backward.d_additive = d_additive_fast;
    } else {
      backward.d_sinks = d_sinks_plain;
      backward.d_additive = d_additive_plain;
    }
    attention_backward(program, backward);
  }

  bool with_scales = true;  // else backward starts from the log-sum-exp
  float* d_sinks_fast = nullptr;
  double* d_sinks_plain = nullptr;
  float* d_additive_fast = nullptr;
  double* d_additive_plain = nullptr;

 private:
  // [B, T, H, width] in memory, or [total, H, width] packed.
  template <typename T>
  Heads<T> queries(T* data, std::int64_t width) const {
    return {data, shape.Tq * shape.H * width, width, shape.H * width, shape.q_starts};
  }
  template <typename T>
  Heads<T> keys(T* data, std::int64_t width) const {
    return {data, shape.Tk * shape.G * width, width, shape.G * width, shape.k_starts};
  }
  // [H, total].
  template <typename T>
  Heads<T> row_numbers(T* data) const {
    return {data, shape.Tq, q_rows(), 1, shape.q_starts};
  }

  static void fill(std::vector<float>& f, std::vector<double>& d, std::int64_t n,
                   std::uint64_t stream, float scale) {
    f = heed::test::random_floats(n, stream, scale);
    d = heed::test::as_doubles(f);
  }

  template <typename T>
  static void expect_near(const std::vector<T>& a, const std::vector<double>& b, double tolerance,
                          const std::string& what) {
    ASSERT_EQ(a.size(), b.size()) << what;
    double worst = 0.0;
    std::size_t at = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double actual = a[i];
      if (actual == b[i] || (std::isnan(actual) && std::isnan(b[i]))) continue;
      const double error = std::abs(actual - b[i]) / std::max(1.0, std::abs(b[i]));
      if (!(error <= worst)) worst = error, at = i;
      if (std::isnan(error)) break;
    }
    EXPECT_LE(worst, tolerance) << what << ", element " << at << " of " << a.size() << ": " << a[at]
                                << " and not " << b[at];
  }
};

}  // namespace heed::kernels::test
