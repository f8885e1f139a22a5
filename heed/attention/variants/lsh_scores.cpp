#include "heed/attention/variants/lsh_scores.h"

#include <array>
#include <cmath>
#include <vector>

#include "heed/base/error.h"
#include "heed/kernels/attention/inline_loop.h"
#include "heed/kernels/attention/plan.h"

namespace heed {
namespace {

// Places are compared as numbers of the type of scores, which must hold them exactly.
constexpr std::int64_t kMostPlaces = std::int64_t{1} << 24;

struct OrderView {
  std::int64_t rounds, heads, length;
  const std::int64_t *order, *place, *first, *last;

  explicit OrderView(const LshOrder& of)
      : rounds(of.order.size(1)),
        heads(of.order.size(2)),
        length(of.order.size(3)),
        order(of.order.data<std::int64_t>()),
        place(of.place.data<std::int64_t>()),
        first(of.first.data<std::int64_t>()),
        last(of.last.data<std::int64_t>()) {}

  // The first element of a line; `head` counts rounds and heads.
  std::int64_t line(std::int64_t batch, std::int64_t head) const {
    return (batch * rounds * heads + head) * length;
  }
};

template <typename T>
class ScoresOnTiles final : public kernels::TileStage<T> {
 public:
  ScoresOnTiles(const OrderView& of, const LshScoreOptions& options)
      : of_(of), selves_(options.selves), unique_(options.unique && of.rounds > 1) {
    for (std::int64_t n = 1; n <= of.rounds; ++n) logs_.push_back(std::log(static_cast<T>(n)));
  }

  kernels::StageNeeds needs(std::int64_t rows, bool) const override {
    return {.block = unique_ ? 2 * of_.rounds * rows : 0};
  }

  // For each round, the interval of places that each query attends to.
  void begin(const kernels::RowBlock<T>& block, kernels::StageSpace<T> space) const override {
    if (!unique_) return;
    const std::int64_t line = of_.line(block.batch, block.head);
    for (std::int64_t r = 0; r < of_.rounds; ++r) {
      const std::int64_t there = of_.line(block.batch, r * of_.heads + block.head % of_.heads);
      T* const first = space.block + 2 * r * block.stride;
      T* const last = first + block.stride;
      for (std::int64_t i = 0; i < block.rows; ++i) {
        const std::int64_t position = of_.order[line + block.row + i];
        const std::int64_t at = there + of_.place[there + position];
        first[i] = static_cast<T>(of_.first[at]);
        last[i] = static_cast<T>(of_.last[at]);
      }
    }
  }

  void forward(const kernels::Tile<T>& tile, kernels::StageSpace<T> space) const override {
    if (selves_) set_selves(tile, static_cast<T>(kLshSelfScore));
    if (unique_) count_once(tile, space);
  }
  // Numbers were added to the other scores, so their gradients stay as they are.
  void backward(const kernels::Tile<T>& gradient, kernels::StageSpace<T>) const override {
    if (selves_) set_selves(gradient, T{0});
  }

 private:
  // Where query and key are the same position.
  static void set_selves(const kernels::Tile<T>& tile, T value) {
    for (std::int64_t c = 0; c < tile.cols; ++c) {
      const std::int64_t r = tile.col + c - tile.row;
      if (r >= 0 && r < tile.rows) tile.at(c, r) = value;
    }
  }

  // Pairs that are hidden in the round of the tile are counted as if they were visible. Most pairs
  // of a key are found by one round alone, so the logarithms are looked up only if one is not.
  void count_once(const kernels::Tile<T>& tile, kernels::StageSpace<T> space) const {
    kernels::run_inline([&] {
      std::array<std::int32_t, kernels::kMaxBlockRows> count;
      std::int32_t* const n = count.data();
      const std::int64_t line = of_.line(tile.batch, tile.head), head = tile.head % of_.heads;
      const std::int64_t own = tile.head / of_.heads;
      for (std::int64_t c = 0; c < tile.cols; ++c) {
        const std::int64_t position = of_.order[line + tile.col + c];
        std::int32_t any = 0;
        for (std::int64_t i = 0; i < tile.rows; ++i) n[i] = 0;
        for (std::int64_t r = 0; r < of_.rounds; ++r) {
          if (r == own) continue;
          const std::int64_t there = of_.line(tile.batch, r * of_.heads + head);
          const T place = static_cast<T>(of_.place[there + position]);
          const T* const first = space.block + 2 * r * space.stride + (tile.row - space.row);
          const T* const last = first + space.stride;
          for (std::int64_t i = 0; i < tile.rows; ++i) {
            const std::int32_t finds = (first[i] <= place) & (place < last[i]);
            n[i] += finds;
            any |= finds;
          }
        }
        if (any == 0) continue;
        T* const x = tile.key(c);
        for (std::int64_t i = 0; i < tile.rows; ++i) x[i] -= logs_[static_cast<std::size_t>(n[i])];
      }
    });
  }

  OrderView of_;
  bool selves_, unique_;
  std::vector<T> logs_;  // of 1 and on
};

class LshScores : public StageOf<LshScores> {
 public:
  LshScores(const LshOrder& order, const LshScoreOptions& options)
      : order_(order), options_(options) {}
  std::string name() const override { return "lsh_scores"; }
  template <typename T>
  TileStagePtr<T> make(const StageBinding& to) const {
    HEED_ASSERT(to.shape.Tq == order_.order.size(3) && to.shape.Tk == to.shape.Tq);
    return std::make_unique<ScoresOnTiles<T>>(OrderView(order_), options_);
  }

 private:
  LshOrder order_;
  LshScoreOptions options_;
};

}  // namespace

Modifier lsh_scores(const LshOrder& order, const LshScoreOptions& options) {
  HEED_CHECK(order.order.size(3) <= kMostPlaces, "[lsh] {} positions: at most {} are supported",
             order.order.size(3), kMostPlaces);
  return make_stage<Modifier, LshScores>(order, options);
}

}  // namespace heed
