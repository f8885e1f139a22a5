// Scores changed by a function of the user's, compiled into the loop over a tile; its gradient
// comes from dual numbers or from a given derivative:
//
//   attention(q, k, v, {.modifiers = {score_mod([](auto s, int b, int h, int i, int j) {
//                         return s - 0.1f * std::abs(i - j);
//                       })}});
#pragma once

#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>

#include "heed/attention/stage.h"
#include "heed/attention/stages/dual.h"
#include "heed/kernels/attention/inline_loop.h"

namespace heed {

namespace detail {

/// df/ds of f(s, b, h, i, j), by calling f with a dual number.
template <typename F>
struct DualSlope {
  F f;
  template <typename T>
  T operator()(T s, int b, int h, int i, int j) const {
    return Dual<T>(f(Dual<T>(s, 1), b, h, i, j)).slope;
  }
};

template <typename T, typename F, typename D>
class FunctionStage final : public kernels::TileStage<T> {
 public:
  FunctionStage(const F& f, const D& slope) : f_(f), slope_(slope) {}

  kernels::StageNeeds needs(std::int64_t, bool backward) const override {
    return {.saved = backward};
  }

  void forward(const kernels::Tile<T>& tile, kernels::StageSpace<T> space) const override {
    kernels::run_inline([&] {
      kernels::Held<F> f = f_;
      for_each_key(tile, [&](std::int64_t c, int row, int j) {
        T* const x = tile.key(c);
        if (space.saved != nullptr) std::copy_n(x, tile.rows, space.saved + c * tile.stride);
        const auto rows = static_cast<int>(tile.rows);
        const auto b = static_cast<int>(tile.batch), h = static_cast<int>(tile.head);
        for (int r = 0; r < rows; ++r) x[r] = static_cast<T>(f(x[r], b, h, row + r, j));
      });
    });
  }

  void backward(const kernels::Tile<T>& gradient, kernels::StageSpace<T> space) const override {
    kernels::run_inline([&] {
      kernels::Held<D> slope = slope_;
      for_each_key(gradient, [&](std::int64_t c, int row, int j) {
        T* const dx = gradient.key(c);
        const T* const x = space.saved + c * gradient.stride;
        const auto rows = static_cast<int>(gradient.rows);
        const auto b = static_cast<int>(gradient.batch), h = static_cast<int>(gradient.head);
        for (int r = 0; r < rows; ++r) {
          // A hidden score may be any number, and so may its slope: it must not leak.
          const T d = static_cast<T>(slope(x[r], b, h, row + r, j)) * dx[r];
          dx[r] = dx[r] == T{0} ? T{0} : d;
        }
      });
    });
  }

 private:
  template <typename G>
  static void for_each_key(const kernels::Tile<T>& tile, const G& g) {
    for (std::int64_t c = 0; c < tile.cols; ++c) {
      g(c, static_cast<int>(tile.row), static_cast<int>(tile.col + c));
    }
  }

  const F& f_;
  const D& slope_;
};

template <typename F, typename D>
class ScoreMod : public StageOf<ScoreMod<F, D>> {
 public:
  ScoreMod(F f, D slope) : f_(std::move(f)), slope_(std::move(slope)) {}
  std::string name() const override { return "score_mod"; }
  TensorList inputs(const kernels::AttentionShape& shape, DType) const override {
    kernels::check_int_sizes("score_mod", shape);
    return {};
  }
  template <typename T>
  TileStagePtr<T> make(const StageBinding&) const {
    return std::make_unique<FunctionStage<T, F, D>>(f_, slope_);
  }

 private:
  F f_;
  D slope_;
};

}  // namespace detail

/// The score becomes f(score, b, h, i, j) for query i and key j, all int. f is generic in its score
/// (auto): it is called with float and double, and with dual numbers for the gradient. It is called
/// from several threads, also for hidden keys, and must not throw. Inside f, `using std::exp;`
/// before exp(s) works for both kinds of numbers.
template <typename F>
Modifier score_mod(F f) {
  static_assert(std::is_invocable_v<const F&, Dual<float>, int, int, int, int>,
                "score_mod(f) calls f with dual numbers for its gradient: take the score as auto, "
                "or give the derivative, score_mod(f, d)");
  return make_stage<Modifier, detail::ScoreMod<F, detail::DualSlope<F>>>(f,
                                                                         detail::DualSlope<F>{f});
}

/// The same with a given derivative with respect to the score, d(score, b, h, i, j).
template <typename F, typename D>
Modifier score_mod(F f, D derivative) {
  return make_stage<Modifier, detail::ScoreMod<F, D>>(std::move(f), std::move(derivative));
}

}  // namespace heed
