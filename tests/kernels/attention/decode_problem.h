// Problems for tests of attention_decode: operands, masks and stages of every kind, and the plain
// computation in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "heed/kernels/attention/decode.h"
#include "tests/support/values.h"

namespace heed::kernels::decode_test {
using heed::test::random_floats;

inline constexpr double kHidden = -std::numeric_limits<double>::infinity();

/// The batch, head, row and column of a score.
struct Place {
  std::int64_t b, h, i, j;
};
using Predicate = std::function<bool(const Place&)>;

/// A mask from a predicate, with the least precise answers that are allowed, or with exact ones if
/// it shows intervals.
class PredicateMask : public Visibility {
 public:
  PredicateMask(Predicate may, bool exact) : may_(std::move(may)), exact_(exact) {}

  bool intervals(const Region& at, std::int64_t* first, std::int64_t* last) const override {
    for (std::int64_t r = 0; r < at.rows; ++r) {
      first[r] = last[r] = at.col;
      for (std::int64_t c = at.col; c < at.col + at.cols; ++c) {
        if (!may_({at.batch, at.head, at.row + r, c})) continue;
        if (first[r] == last[r]) first[r] = c;
        last[r] = c + 1;
      }
    }
    return exact_;
  }
  Cover cover(const Region& at) const override {
    std::int64_t seen = 0;
    for (std::int64_t r = 0; r < at.rows; ++r) {
      for (std::int64_t c = 0; c < at.cols; ++c) {
        seen += may_({at.batch, at.head, at.row + r, at.col + c}) ? 1 : 0;
      }
    }
    return seen == 0 ? Cover::none : seen == at.rows * at.cols ? Cover::all : Cover::some;
  }
  void fill(const Region& at, std::uint8_t* seen, std::int64_t stride) const override {
    for (std::int64_t r = 0; r < at.rows; ++r) {
      for (std::int64_t c = 0; c < at.cols; ++c) {
        seen[c * stride + r] = may_({at.batch, at.head, at.row + r, at.col + c}) ? 1 : 0;
      }
    }
  }

 private:
  Predicate may_;
  bool exact_;
};

/// score + slope * (j - i) * (h + 1) + the first feature of the scaled query.
class Slope : public TileStage<float> {
 public:
  static double term(const Place& at, double q0) {
    return 0.01 * static_cast<double>((at.j - at.i) * (at.h + 1)) + q0;
  }
  StageNeeds needs(std::int64_t rows, bool) const override { return {.block = rows}; }
  void begin(const RowBlock<float>& block, StageSpace<float> space) const override {
    for (std::int64_t r = 0; r < block.rows; ++r) {
      space.block[r] = block.queries[r] * block.query_unit;
    }
  }
  void forward(const Tile<float>& tile, StageSpace<float> space) const override {
    for (std::int64_t c = 0; c < tile.cols; ++c) {
      for (std::int64_t r = 0; r < tile.rows; ++r) {
        const Place at{tile.batch, tile.head, tile.row + r, tile.col + c};
        tile.at(c, r) += static_cast<float>(term(at, space.block[r]));
      }
    }
  }
  void backward(const Tile<float>&, StageSpace<float>) const override {}
};

/// Drops the weight of every third key, and adds the sum of weights of odd keys to each output at
/// the end, like a stage with its own values.
class Reweigh : public TileStage<float> {
 public:
  static double factor(const Place& at) { return (at.j + at.i + at.b) % 3 == 0 ? 0.0 : 1.5; }
  static double value(const Place& at) { return at.j % 2 == 1 ? 1.0 : 0.0; }
  StageNeeds needs(std::int64_t rows, bool) const override { return {.block = rows}; }
  void begin(const RowBlock<float>& block, StageSpace<float> space) const override {
    std::fill_n(space.block, block.stride, 0.0f);
  }
  void forward(const Tile<float>& tile, StageSpace<float> space) const override {
    for (std::int64_t c = 0; c < tile.cols; ++c) {
      for (std::int64_t r = 0; r < tile.rows; ++r) {
        const Place at{tile.batch, tile.head, tile.row + r, tile.col + c};
        tile.at(c, r) *= static_cast<float>(factor(at));
        space.block[r] += tile.at(c, r) * static_cast<float>(value(at));
      }
    }
  }
  void rescale(const float* factors, StageSpace<float> space) const override {
    for (std::int64_t r = 0; r < space.stride; ++r) space.block[r] *= factors[r];
  }
  void end(const RowBlock<float>& block, StageSpace<float> space) const override {
    for (std::int64_t f = 0; f < block.value_features; ++f) {
      for (std::int64_t r = 0; r < block.rows; ++r) {
        block.output[f * block.stride + r] += space.block[r];
      }
    }
  }
  void backward(const Tile<float>&, StageSpace<float>) const override {}
};

struct Case {
  AttentionShape shape;
  Predicate may = nullptr;
  bool exact = false;
  bool modifiers = false, reweights = false;
  Normalise normaliser = Normalise::softmax;
  bool sinks = false;
  float size = 1;  // of queries
};

/// The operands of a case, with different row strides, and its results.
struct Problem {
  explicit Problem(const Case& c)
      : of(c),
        q(random_floats(c.shape.B * c.shape.H * c.shape.Tq * (c.shape.D + 1), 1, c.size)),
        k(random_floats(c.shape.B * c.shape.G * c.shape.Tk * (c.shape.D + 2), 2)),
        v(random_floats(c.shape.B * c.shape.G * c.shape.Tk * (c.shape.Dv + 3), 3)),
        sinks(random_floats(c.shape.H, 4)) {}

  template <typename T>
  static Heads<T> rows(T* data, std::int64_t heads, std::int64_t length, std::int64_t row) {
    return {data, heads * length * row, length * row, row, nullptr};
  }
  Heads<const float> queries() const {
    return rows(q.data(), of.shape.H, of.shape.Tq, of.shape.D + 1);
  }
  template <typename T>
  Heads<const T> keys(const std::vector<T>& x) const {
    return rows(x.data(), of.shape.G, of.shape.Tk, of.shape.D + 2);
  }
  template <typename T>
  Heads<const T> values(const std::vector<T>& x) const {
    return rows(x.data(), of.shape.G, of.shape.Tk, of.shape.Dv + 3);
  }
  std::int64_t outputs() const { return of.shape.B * of.shape.H * of.shape.Tq; }

  Case of;
  std::vector<float> q, k, v, sinks;
};

struct Result {
  std::vector<float> output, log;
};

inline float scale_of(const AttentionShape& s) { return 1.0f / std::sqrt(static_cast<float>(s.D)); }

template <typename T>
Result decode(const Problem& p, const std::vector<T>& k, const std::vector<T>& v) {
  const AttentionShape& s = p.of.shape;
  const PredicateMask mask(p.of.may, p.of.exact);
  Slope slope;
  Reweigh reweigh;
  TileStage<float>* modifiers[] = {&slope};
  TileStage<float>* reweights[] = {&reweigh};
  AttentionProgram<float> program;
  program.shape = s;
  program.scale = scale_of(s);
  program.normaliser = p.of.normaliser;
  if (p.of.may != nullptr) program.mask = &mask;
  if (p.of.modifiers) program.modifiers = modifiers;
  if (p.of.reweights) program.reweights = reweights;
  if (p.of.sinks) program.sinks = p.sinks.data();

  Result result{heed::test::guarded(p.outputs() * s.Dv), heed::test::guarded(p.outputs())};
  DecodeCall<T> call;
  call.q = p.queries();
  call.k = p.keys(k);
  call.v = p.values(v);
  call.output = Problem::rows(result.output.data(), s.H, s.Tq, s.Dv);
  call.log_sum_exp = Problem::rows(result.log.data(), s.H, s.Tq, 1);
  attention_decode(program, call);
  return result;
}
inline Result decode(const Problem& p) { return decode(p, p.k, p.v); }

struct Expected {
  std::vector<double> output, log;
};

inline double score(const Problem& p, const Place& at, std::int64_t g) {
  if (p.of.may != nullptr && !p.of.may(at)) return kHidden;
  const float* const q = p.queries().at(at.b, at.h, at.i);
  const float* const k = p.keys(p.k).at(at.b, g, at.j);
  const double scale = static_cast<double>(scale_of(p.of.shape));
  double dot = 0;
  for (std::int64_t f = 0; f < p.of.shape.D; ++f) {
    dot += static_cast<double>(q[f]) * static_cast<double>(k[f]);
  }
  return scale * dot + (p.of.modifiers ? Slope::term(at, scale * static_cast<double>(q[0])) : 0.0);
}

// The weights of one row, and its log-sum-exp.
inline double weigh(const Problem& p, const Place& at, std::vector<double>& x) {
  if (p.of.normaliser == Normalise::none) {
    for (double& s : x) s = s == kHidden ? 0.0 : s;
  } else if (p.of.normaliser == Normalise::sigmoid) {
    for (double& s : x) s = 1.0 / (1.0 + std::exp(-s));
  } else {
    const double sink = p.of.sinks ? p.sinks[static_cast<std::size_t>(at.h)] : kHidden;
    double top = sink;
    for (const double s : x) top = std::max(top, s);
    if (top == kHidden) {
      std::fill(x.begin(), x.end(), 0.0);
      return kHidden;
    }
    double total = std::exp(sink - top);
    for (double& s : x) total += s = std::exp(s - top);
    for (double& s : x) s /= total;
    return top + std::log(total);
  }
  return 0;
}

inline Expected expect(const Problem& p) {
  const AttentionShape& s = p.of.shape;
  Expected expected;
  for (Place at{0, 0, 0, 0}; at.b < s.B; ++at.b) {
    for (at.h = 0; at.h < s.H; ++at.h) {
      for (at.i = 0; at.i < s.Tq; ++at.i) {
        const std::int64_t g = at.h / s.group();
        std::vector<double> x, output(static_cast<std::size_t>(s.Dv));
        for (at.j = 0; at.j < s.Tk; ++at.j) x.push_back(score(p, at, g));
        expected.log.push_back(weigh(p, at, x));
        for (at.j = 0; at.j < s.Tk; ++at.j) {
          const double seen = x[static_cast<std::size_t>(at.j)];
          if (seen == 0.0) continue;
          const double weight = p.of.reweights ? seen * Reweigh::factor(at) : seen;
          const double more = p.of.reweights ? Reweigh::value(at) : 0.0;
          const float* const v = p.values(p.v).at(at.b, g, at.j);
          for (std::size_t f = 0; f < output.size(); ++f) {
            output[f] += weight * (static_cast<double>(v[f]) + more);
          }
        }
        expected.output.insert(expected.output.end(), output.begin(), output.end());
      }
    }
  }
  return expected;
}

}  // namespace heed::kernels::decode_test
