// Runs one stage on one block of queries as the passes of attention do: cut into tiles, in memory
// whose padding is NaN. For comparing f32 with double and gradients with differences.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "heed/base/arena.h"
#include "heed/kernels/attention/stages.h"
#include "tests/support/isa_guard.h"
#include "tests/support/values.h"

namespace heed::test {

/// The place of the block and the size of its tiles.
struct StagePlace {
  std::int64_t row = 0, rows = 1, col = 0, cols = 1;
  std::int64_t batch = 1, head = 1;
  std::int64_t features = 5, value_features = 3;
  std::int64_t tile_rows = 32, tile_cols = 24;  ///< Rows in multiples of 16.
  double query_unit = 1.0;

  std::int64_t stride() const { return (rows + 15) / 16 * 16 + 16; }
  std::string name() const { return fmt::format("rows {}+{}, cols {}+{}", row, rows, col, cols); }
};

/// Matrices of a block, without padding: [cols][rows], [features][rows], [value_features][rows].
template <typename T>
struct StageValues {
  std::vector<T> tile, gradient, queries, d_output;
};

template <typename T>
struct StageResults {
  std::vector<T> tile, gradient, output, d_queries;
};

inline StageValues<double> random_values(const StagePlace& place) {
  return {as_doubles(random_floats(place.cols * place.rows, 1)),
          as_doubles(random_floats(place.cols * place.rows, 2)),
          as_doubles(random_floats(place.features * place.rows, 3)),
          as_doubles(random_floats(place.value_features * place.rows, 4))};
}

inline std::vector<float> as_floats(const std::vector<double>& x) { return {x.begin(), x.end()}; }

inline StageValues<float> as_floats(const StageValues<double>& x) {
  return {as_floats(x.tile), as_floats(x.gradient), as_floats(x.queries), as_floats(x.d_output)};
}

/// A matrix with padded rows.
template <typename T>
class Padded {
 public:
  Padded(const std::vector<T>& from, std::int64_t rows, std::int64_t stride)
      : rows_(rows),
        outer_(static_cast<std::int64_t>(from.size()) / rows),
        stride_(stride),
        data_(std::max<std::int64_t>(outer_, 1) * stride) {
    std::fill_n(data_.data(), data_.size(), std::numeric_limits<T>::quiet_NaN());
    for (std::int64_t i = 0; i < outer_; ++i) {
      std::copy_n(from.data() + i * rows, rows, data() + i * stride);
    }
  }
  T* data() const { return data_.data(); }
  std::vector<T> values() const {
    std::vector<T> result;
    for (std::int64_t i = 0; i < outer_; ++i) {
      result.insert(result.end(), data() + i * stride_, data() + i * stride_ + rows_);
    }
    return result;
  }

 private:
  std::int64_t rows_, outer_, stride_;
  Scratch<T> data_;
};

template <typename T>
class StageTrial {
 public:
  StageTrial(kernels::TileStage<T>& stage, const StagePlace& place) : stage_(&stage), p_(place) {}

  StageResults<T> forward(const StageValues<T>& in) {
    const Padded<T> tile = padded(in.tile), queries = padded(in.queries);
    const Padded<T> output = padded(std::vector<T>(size(p_.value_features)));
    kernels::RowBlock<T> block = row_block(queries);
    block.output = output.data();
    const kernels::StageList<T> list(stages(), p_.stride(), false);
    const Scratch<T> memory(list.space(0) + 1);
    kernels::StageRun<T> run(list, 0, memory.data());
    run.begin(block);
    for_each_tile([&](std::int64_t at, kernels::Tile<T> piece) {
      piece.data = tile.data() + at;
      run.forward(piece, 0);
    });
    run.end(block);
    return {tile.values(), {}, output.values(), {}};
  }

  /// Gradients of learned numbers go to the memory that the stage was given.
  StageResults<T> backward(const StageValues<T>& in) {
    const Padded<T> tile = padded(in.tile), queries = padded(in.queries);
    const Padded<T> gradient = padded(in.gradient), d_output = padded(in.d_output);
    const Padded<T> d_queries = padded(std::vector<T>(size(p_.features)));
    kernels::RowBlock<T> block = row_block(queries);
    block.d_output = d_output.data();
    block.d_scaled_queries = d_queries.data();
    const kernels::StageList<T> list(stages(), p_.stride(), true);
    const std::int64_t whole = p_.cols * p_.stride();
    const std::int64_t cells = (p_.batch + 1) * (p_.head + 1);
    const Scratch<T> memory(list.space(whole) + 1);
    std::vector<T> sums(static_cast<std::size_t>(list.sums() * cells));
    kernels::StageRun<T> run(list, whole, memory.data(), {sums.data(), cells, cells - 1});
    run.begin(block);
    for_each_tile([&](std::int64_t at, kernels::Tile<T> piece) {
      piece.data = tile.data() + at;
      run.forward(piece, at);
      piece.data = gradient.data() + at;
      run.backward(piece, at);
    });
    run.end(block);
    stage_->finish({sums.data(), list.sums(), p_.batch + 1, p_.head + 1, 1});
    return {tile.values(), gradient.values(), {}, d_queries.values()};
  }

 private:
  std::size_t size(std::int64_t outer) const { return static_cast<std::size_t>(outer * p_.rows); }
  Padded<T> padded(const std::vector<T>& x) const { return Padded<T>(x, p_.rows, p_.stride()); }
  std::span<kernels::TileStage<T>* const> stages() const { return {&stage_, 1}; }

  kernels::RowBlock<T> row_block(const Padded<T>& queries) const {
    kernels::RowBlock<T> block;
    block.batch = p_.batch;
    block.head = p_.head;
    block.row = p_.row;
    block.rows = p_.rows;
    block.stride = p_.stride();
    block.features = p_.features;
    block.value_features = p_.value_features;
    block.queries = queries.data();
    block.query_unit = static_cast<T>(p_.query_unit);
    return block;
  }

  template <typename F>
  void for_each_tile(const F& f) const {
    for (std::int64_t c = 0; c < p_.cols; c += p_.tile_cols) {
      for (std::int64_t r = 0; r < p_.rows; r += p_.tile_rows) {
        kernels::Tile<T> tile;
        tile.stride = p_.stride();
        tile.batch = p_.batch;
        tile.head = p_.head;
        tile.row = p_.row + r;
        tile.col = p_.col + c;
        tile.rows = std::min(p_.tile_rows, p_.rows - r);
        tile.cols = std::min(p_.tile_cols, p_.cols - c);
        f(c * p_.stride() + r, tile);
      }
    }
  }

  kernels::TileStage<T>* stage_;
  StagePlace p_;
};

template <typename T>
void expect_near(const std::vector<T>& actual, const std::vector<double>& expected,
                 double tolerance, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    ASSERT_NEAR(actual[i], expected[i], tolerance * std::max(1.0, std::abs(expected[i])))
        << what << ", element " << i;
  }
}

/// Calls f(place) for odd sizes at odd places.
template <typename F>
void for_each_place(const F& f) {
  for (const std::int64_t rows : {1, 7, 17, 48}) {
    for (const std::int64_t cols : {1, 5, 8, 33}) {
      for (const auto& [row, col] : {std::pair{0, 0}, {3, 50}, {96, 13}}) {
        StagePlace place;
        place.row = row;
        place.rows = rows;
        place.col = col;
        place.cols = cols;
        f(place);
      }
    }
  }
}

/// Learned numbers of a stage and their gradient, in one precision.
template <typename T>
struct Learned {
  std::vector<T> values, gradient;

  explicit Learned(const std::vector<double>& x)
      : values(x.begin(), x.end()), gradient(values.size()) {}
};

/// f32 on every instruction set against double, both directions. `make(learned)` makes the stage.
template <typename Make>
void compare_with_double(const std::vector<double>& parameters, const Make& make,
                         double tolerance = 2e-6) {
  for_each_place([&](const StagePlace& place) {
    const StageValues<double> in = random_values(place);
    Learned<double> learned(parameters);
    auto stage = make(learned);
    StageTrial<double> trial(stage, place);
    const StageResults<double> forward = trial.forward(in), backward = trial.backward(in);
    for_each_isa([&](Isa isa) {
      const std::string what = fmt::format("{} {}", name_of(isa), place.name());
      Learned<float> learned_f(parameters);
      auto stage_f = make(learned_f);
      StageTrial<float> trial_f(stage_f, place);
      const StageResults<float> forward_f = trial_f.forward(as_floats(in));
      const StageResults<float> backward_f = trial_f.backward(as_floats(in));
      expect_near(forward_f.tile, forward.tile, tolerance, what + " tile");
      expect_near(forward_f.output, forward.output, tolerance, what + " output");
      expect_near(backward_f.tile, forward.tile, tolerance, what + " tile of backward");
      expect_near(backward_f.gradient, backward.gradient, tolerance, what + " gradient");
      expect_near(backward_f.d_queries, backward.d_queries, 5 * tolerance, what + " d_queries");
      expect_near(learned_f.gradient, learned.gradient, 10 * tolerance, what + " learned");
    });
  });
}

inline double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// The gradient of a function of x by central differences.
inline std::vector<double> differences(std::vector<double>& x,
                                       const std::function<double()>& function) {
  constexpr double kStep = 1e-5;
  std::vector<double> result;
  for (double& value : x) {
    const double before = value;
    value = before + kStep;
    const double above = function();
    value = before - kStep;
    const double below = function();
    value = before;
    result.push_back((above - below) / (2 * kStep));
  }
  return result;
}

/// The gradients of the double stage against differences: of the tile, of the queries and of
/// learned numbers. Contributions of the stage to the output are included.
template <typename Make>
void compare_with_differences(const std::vector<double>& parameters, const Make& make,
                              const StagePlace& place) {
  StageValues<double> in = random_values(place);
  Learned<double> learned(parameters);
  auto stage = make(learned);
  StageTrial<double> trial(stage, place);
  const StageResults<double> backward = trial.backward(in);
  const auto loss = [&] {
    const StageResults<double> results = trial.forward(in);
    return dot(results.tile, in.gradient) + dot(results.output, in.d_output);
  };
  expect_near(backward.gradient, differences(in.tile, loss), 1e-8, "tile");
  expect_near(learned.gradient, differences(learned.values, loss), 1e-8, "learned");
  std::vector<double> d_queries = differences(in.queries, loss);
  for (double& x : d_queries)
    x /= place.query_unit;  // d_queries is the gradient of queries * query_unit
  expect_near(backward.d_queries, d_queries, 1e-8, "queries");
}

}  // namespace heed::test
