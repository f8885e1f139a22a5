// One query head of one sequence with all its scores in memory, for the plain forward and backward
// passes of attention (attention.cpp). Matrices are [key][query] or [feature][query].
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "heed/kernels/attention/program.h"
#include "heed/kernels/attention/stages.h"

namespace heed::kernels::reference {

using Numbers = std::vector<double>;
using Cuts = std::vector<RowCut<double>>;

inline constexpr double kHidden = -std::numeric_limits<double>::infinity();

inline Numbers zeros(std::int64_t n) { return Numbers(static_cast<std::size_t>(n)); }

/// The sum of e^score over a row is sum * e^shift, where the shift is the row's highest score. The
/// two stay apart: in shift + log(sum), a huge score swallows the logarithm.
struct RowSum {
  double shift = 0.0, sum = 0.0;  ///< The sum is 0 if the row has no visible key.

  double weight(double score) const { return sum == 0.0 ? 0.0 : std::exp(score - shift) / sum; }
  double log() const { return shift + std::log(sum); }
};
using RowSums = std::vector<RowSum>;

/// The stages of one head, which is one tile.
class Stages {
 public:
  Stages(const StageList<double>& list, std::int64_t tile, SumsAt<double> sums)
      : memory_(zeros(list.space(tile))), run_(list, tile, memory_.data(), sums) {}
  StageRun<double>* operator->() { return &run_; }

 private:
  Numbers memory_;
  StageRun<double> run_;
};

struct HeadInputs {
  Heads<const double> q, k, v;
};

class Head {
 public:
  Head(const AttentionProgram<double>& program, const HeadInputs& in, std::int64_t batch,
       std::int64_t head)
      : program_(program),
        in_(in),
        b_(batch),
        h_(head),
        Tq_(program.shape.queries(batch)),
        Tk_(program.shape.keys(batch)),
        D_(program.shape.D),
        queries_(zeros(D_ * Tq_)),
        visible_(static_cast<std::size_t>(Tk_ * Tq_), 1) {
    for (std::int64_t i = 0; i < Tq_; ++i) {
      const double* const q = in.q.at(batch, head, i);
      for (std::int64_t d = 0; d < D_; ++d) queries_[at(d, i)] = program.scale * q[d];
    }
    if (program.mask != nullptr && Tq_ * Tk_ > 0) {
      program.mask->fill({b_, h_, 0, Tq_, 0, Tk_}, visible_.data(), Tq_);
    }
  }

  std::int64_t Tq() const { return Tq_; }
  std::int64_t Tk() const { return Tk_; }
  const double* k(std::int64_t j) const { return in_.k.at(b_, h_ / program_.shape.group(), j); }
  const double* v(std::int64_t j) const { return in_.v.at(b_, h_ / program_.shape.group(), j); }
  double scaled_q(std::int64_t d, std::int64_t i) const { return queries_[at(d, i)]; }
  std::size_t at(std::int64_t outer, std::int64_t query) const {
    return static_cast<std::size_t>(outer * Tq_ + query);
  }

  /// The weights of additive scores.
  const double* additive() const { return program_.additive + h_ * program_.additive_head; }

  RowBlock<double> block() const {
    RowBlock<double> block;
    block.batch = b_;
    block.head = h_;
    block.rows = block.stride = Tq_;
    block.features = D_;
    block.value_features = program_.shape.Dv;
    block.queries = queries_.data();
    return block;
  }
  Tile<double> tile(Numbers& data) const {
    Tile<double> tile;
    tile.data = data.data();
    tile.stride = tile.rows = Tq_;
    tile.batch = b_;
    tile.head = h_;
    tile.cols = Tk_;
    return tile;
  }

  /// Calls f(j, i) for every query i and every key j visible to it.
  template <typename F>
  void for_each_visible(const F& f) const {
    for (std::int64_t j = 0; j < Tk_; ++j) {
      for (std::int64_t i = 0; i < Tq_; ++i) {
        if (visible_[at(j, i)] != 0) f(j, i);
      }
    }
  }
  /// Sets the elements of hidden keys to `hidden`.
  void hide(Numbers& x, double hidden) const {
    for (std::size_t n = 0; n < x.size(); ++n) {
      if (visible_[n] == 0) x[n] = hidden;
    }
  }

  /// The scores after all modifiers; -inf for hidden keys.
  Numbers scores(Stages& modify) const {
    Numbers s = zeros(Tk_ * Tq_);
    for_each_visible([&](std::int64_t j, std::int64_t i) {
      for (std::int64_t d = 0; d < D_; ++d) {
        s[at(j, i)] += program_.additive == nullptr
                           ? scaled_q(d, i) * k(j)[d]
                           : additive()[d] * std::tanh(scaled_q(d, i) + k(j)[d]);
      }
    });
    modify->forward(tile(s), 0);
    hide(s, kHidden);
    return s;
  }

  /// The worst of the best top_k keys of each query; -inf for queries with fewer visible keys.
  Cuts find_cuts(const Numbers& scores) const {
    Cuts cuts(static_cast<std::size_t>(Tq_), {kHidden, std::numeric_limits<std::int32_t>::max()});
    for (std::int64_t i = 0; i < Tq_; ++i) {
      std::vector<std::int64_t> best;
      for (std::int64_t j = 0; j < Tk_; ++j) {
        if (scores[at(j, i)] > kHidden) best.push_back(j);
      }
      if (static_cast<std::int64_t>(best.size()) < program_.top_k) continue;
      std::stable_sort(best.begin(), best.end(), [&](std::int64_t a, std::int64_t b) {
        return scores[at(a, i)] > scores[at(b, i)];
      });
      const std::int64_t worst = best[static_cast<std::size_t>(program_.top_k - 1)];
      cuts[at(0, i)] = {scores[at(worst, i)], static_cast<std::int32_t>(worst)};
    }
    return cuts;
  }

  /// Hides the keys below the cuts.
  void cut(Numbers& scores, const RowCut<double>* cuts) {
    for (std::int64_t j = 0; j < Tk_; ++j) {
      for (std::int64_t i = 0; i < Tq_; ++i) {
        const double s = scores[at(j, i)];
        if (s < cuts[i].score || (s == cuts[i].score && j > cuts[i].key)) visible_[at(j, i)] = 0;
      }
    }
    hide(scores, kHidden);
  }

  /// Each row's sum of e^score, including the sink.
  RowSums sum_rows(const Numbers& scores) const {
    RowSums sums(static_cast<std::size_t>(Tq_));
    const double sink = this->sink();
    for (std::int64_t i = 0; i < Tq_; ++i) {
      RowSum& row = sums[at(0, i)];
      double top = sink;
      for (std::int64_t j = 0; j < Tk_; ++j) top = std::max(top, scores[at(j, i)]);
      if (top > kHidden) row.shift = top;
      row.sum = std::exp(sink - row.shift);
      for (std::int64_t j = 0; j < Tk_; ++j) row.sum += std::exp(scores[at(j, i)] - row.shift);
    }
    return sums;
  }
  double sink() const { return program_.sinks == nullptr ? kHidden : program_.sinks[h_]; }

  /// The slope of a weight of entmax by its score, without the term of the threshold.
  double entmax_slope(double weight) const {
    return weight > 0.0 ? std::pow(weight, 2.0 - program_.alpha) : 0.0;
  }
  /// Weights of entmax from scores; the threshold of each row is found by bisection.
  void entmax(Numbers& x) const {
    const double step = program_.alpha - 1.0;
    for (std::int64_t i = 0; i < Tq_; ++i) {
      double top = kHidden;
      for (std::int64_t j = 0; j < Tk_; ++j) top = std::max(top, x[at(j, i)]);
      const auto weight = [&](std::int64_t j, double level) {
        const double z = (x[at(j, i)] - top) * step + level;
        return z > 0.0 ? std::pow(z, 1.0 / step) : 0.0;
      };
      double low = 0.0, high = 1.0;
      for (int halving = 0; halving < 80; ++halving) {
        const double middle = (low + high) / 2.0;
        double total = 0.0;
        for (std::int64_t j = 0; j < Tk_; ++j) total += weight(j, middle);
        (total < 1.0 ? low : high) = middle;
      }
      for (std::int64_t j = 0; j < Tk_; ++j) x[at(j, i)] = weight(j, high);
    }
  }

  /// Weights from scores; `sums` is for softmax.
  void normalise(Numbers& x, const RowSums& sums) {
    if (program_.normaliser == Normalise::entmax) entmax(x);
    for (std::size_t n = 0; n < x.size(); ++n) {
      switch (program_.normaliser) {
        case Normalise::softmax:
          x[n] = sums[n % static_cast<std::size_t>(Tq_)].weight(x[n]);
          break;
        case Normalise::sigmoid:
          x[n] = 1.0 / (1.0 + std::exp(-x[n]));
          break;
        case Normalise::none:
          if (x[n] == kHidden) visible_[n] = 0;  // a score of -inf hides the key
          break;
        case Normalise::entmax:
          break;  // done above
      }
    }
    hide(x, 0.0);
  }

 private:
  const AttentionProgram<double>& program_;
  HeadInputs in_;
  std::int64_t b_, h_, Tq_, Tk_, D_;
  Numbers queries_;
  std::vector<std::uint8_t> visible_;
};

}  // namespace heed::kernels::reference
