// One block of queries and its tiles: its place, its stages and the scores of a strip. Shared by
// forward and backward.
#if defined(HEED_KERNELS_ATTENTION_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ATTENTION_BLOCK_INL_H_
#undef HEED_KERNELS_ATTENTION_BLOCK_INL_H_
#else
#define HEED_KERNELS_ATTENTION_BLOCK_INL_H_
#endif

#include <cstdint>

#include "heed/kernels/attention/additive-inl.h"
#include "heed/kernels/attention/program.h"
#include "heed/kernels/attention/stages.h"
#include "heed/kernels/attention/visible_products-inl.h"
#include "heed/kernels/attention/weights-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Two panels of registers: K and V are read from L2 half as often, and the tiles of the block still
// fit into L1.
#if HWY_TARGET <= HWY_AVX3
inline constexpr std::int64_t kBlockVectors = 4;
#else
inline constexpr std::int64_t kBlockVectors = 6;
#endif
template <typename T>
inline constexpr std::int64_t kBlockRowsOf = kBlockVectors* kLanesOf<T>;
static_assert(kBlockRowsOf<float> <= kMaxBlockRows);

/// Keys in a tile: the tile and the matrix it is multiplied with must fit into L1.
inline std::int64_t tile_keys(std::int64_t features) {
  return features <= 32 ? 96 : features <= 64 ? 128 : 64;
}

template <typename T>
inline constexpr T kLog2EOf = static_cast<T>(0x1.71547652b82fep0);
template <typename T>
inline constexpr T kLn2Of = static_cast<T>(0x1.62e42fefa39efp-1);

/// Whether no stage needs the scores themselves, so that tiles may hold multiples of them.
template <typename T>
bool runs_plain(const AttentionProgram<T>& program) {
  return (program.modifiers.empty() || program.only_observers) && program.additive == nullptr &&
         program.normaliser == Normalise::softmax;
}

/// The numbers that tiles hold: scores * from_score. These times `log2` are base-2 logarithms of
/// weights.
template <typename T>
struct TileUnit {
  T log2, from_score, to_score;

  /// With `products`, tiles hold products of queries and keys without their scale.
  explicit TileUnit(const AttentionProgram<T>& program, bool products = false)
      : log2(kLog2EOf<T>), from_score(1), to_score(1) {
    if (products) {
      log2 *= program.scale;
      from_score = T(1) / program.scale;
      to_score = program.scale;
      return;
    }
    if (!runs_plain(program)) return;
    log2 = kPlainUnit;
    from_score = kLog2EOf<T> / kPlainUnit;
    to_score = kLn2Of<T> * kPlainUnit;
  }
};

/// The place of a block and the program that it runs.
template <typename T>
class Block {
 public:
  static constexpr std::int64_t kLanes = kLanesOf<T>;
  static constexpr std::int64_t kBlockRows = kBlockRowsOf<T>;
  static constexpr Fixed<kBlockRows> kStride{};

  Block(const AttentionProgram<T>& program, std::int64_t batch, std::int64_t head, std::int64_t row,
        bool products = false)
      : program_(program),
        unit_(program, products),
        plain_(runs_plain(program) && !products),
        batch_(batch),
        head_(head),
        row_(row),
        rows_(std::min(kBlockRows, program.shape.queries(batch) - row)),
        vectors_((rows_ + kLanes - 1) / kLanes),
        plan_(program.mask, region(), kLanes) {}

  std::int64_t rows() const { return rows_; }
  std::int64_t vectors() const { return vectors_; }
  const KeyPlan& plan() const { return plan_; }

  const TileUnit<T>& unit() const { return unit_; }
  T query_factor() const { return program_.scale * unit_.from_score; }

  RowBlock<T> row_block() const {
    RowBlock<T> block;
    block.batch = batch_;
    block.head = head_;
    block.row = row_;
    block.rows = rows_;
    block.stride = kBlockRows;
    block.features = program_.shape.D;
    block.value_features = program_.shape.Dv;
    block.query_unit = block.score_unit = unit_.to_score;
    return block;
  }

  /// The offset of a strip in a tile whose first key is `col`.
  static std::int64_t offset(const Strip& strip, std::int64_t col) {
    return (strip.col - col) * kBlockRows + strip.vector * kLanes;
  }
  static Piece<T> piece(const Strip& strip, T* data) {
    return {data, kBlockRows, strip.cols, strip.vectors};
  }
  Tile<T> tile(const Strip& strip, T* data) const {
    Tile<T> tile;
    tile.data = data;
    tile.stride = kBlockRows;
    tile.batch = batch_;
    tile.head = head_;
    tile.row = row_ + strip.vector * kLanes;
    tile.col = strip.col;
    tile.rows = rows_of(strip);
    tile.cols = strip.cols;
    return tile;
  }
  std::int64_t rows_of(const Strip& strip) const {
    return std::min(rows_ - strip.vector * kLanes, strip.vectors * kLanes);
  }

  /// From now on, each row hides the keys below its cut.
  void set_cuts(const T* scores, const std::int32_t* keys) {
    cut_scores_ = scores;
    cut_keys_ = keys;
  }
  /// What the products of open strips prefetch; edge strips are too short for it.
  void set_ahead(FetchAhead* ahead) { ahead_ = ahead; }
  /// Whether some weight of the strip may be 0 because its key is hidden.
  bool masks(const Strip& strip) const {
    return strip.kind != Strip::Kind::open || program_.top_k > 0;
  }

  /// Whether f holds for all strips with hidden keys; of several with the same keys, for the first.
  template <class F>
  bool all_masked(const KeyPlan::Strips& strips, const F& f) const {
    std::int64_t checked = 0;
    for (const Strip& strip : strips) {
      if (!masks(strip) || strip.col + strip.cols <= checked) continue;
      checked = strip.col + strip.cols;
      if (!f(strip)) return false;
    }
    return true;
  }

  /// Scores of a strip after all modifiers; -inf where hidden.
  void scores(const Strip& strip, RowsOf<const T> keys, const T* queries, T* data,
              const StageRun<T>& modifiers, std::int64_t at) const {
    const T* const q = queries + strip.vector * kLanes;
    const AlongRows rows{keys.row(strip.col), keys.stride};
    const Put out{data, kStride};
    if (program_.additive == nullptr && ahead_ != nullptr && strip.kind == Strip::Kind::open) {
      product(strip.cols, strip.vectors, program_.shape.D, AlongRowsFetching{rows, ahead_}, q,
              kStride, out);
    } else if (program_.additive == nullptr) {
      product(strip.cols, strip.vectors, program_.shape.D, rows, q, kStride, out);
    } else {
      additive_scores(additive(strip, keys, queries), piece(strip, data));
    }
    finish_scores(strip, data, modifiers, at);
  }

  /// Modifiers and masks.
  void finish_scores(const Strip& strip, T* data, const StageRun<T>& modifiers,
                     std::int64_t at) const {
    if (!modifiers.empty()) modifiers.forward(tile(strip, data), at);
    if (strip.kind != Strip::Kind::open) hide(strip, data);
    if (cut_scores_ != nullptr) {
      const std::int64_t r = strip.vector * kLanes;
      hide_below(piece(strip, data), strip.col, cut_scores_ + r, cut_keys_ + r);
    }
  }

  /// Turns scores into weights relative to references.
  template <Then kThen>
  void weigh_strip(const Strip& strip, T* data, const References<T>& refs, T* rows) const {
    const std::int64_t r = strip.vector * kLanes;
    const auto run = refs.far
                         ? (plain_ ? weigh<false, true, kThen, T> : weigh<true, true, kThen, T>)
                         : (plain_ ? weigh<false, false, kThen, T> : weigh<true, false, kThen, T>);
    run(piece(strip, data), unit_.log2, refs.from(r), rows + r);
  }

  /// scores and weigh_strip in one: in the product itself where nothing comes between.
  template <Then kThen>
  void weights(const Strip& strip, RowsOf<const T> keys, const T* queries, T* data,
               const StageRun<T>& modifiers, std::int64_t at, const References<T>& refs,
               T* rows) const {
    if constexpr (kWeighInProduct) {
      if (plain_ && modifiers.empty() && !refs.far && cut_scores_ == nullptr &&
          strip.kind == Strip::Kind::open) {
        return weigh_product<kThen>(strip, keys, queries, data, refs, rows);
      }
    }
    scores(strip, keys, queries, data, modifiers, at);
    weigh_strip<kThen>(strip, data, refs, rows);
  }

  AdditiveOperands<T> additive(const Strip& strip, RowsOf<const T> keys, const T* queries) const {
    return {{keys.row(strip.col), keys.stride},
            queries + strip.vector * kLanes,
            kBlockRows,
            program_.additive + head_ * program_.additive_head,
            program_.shape.D,
            rows_};
  }

 private:
  template <Then kThen>
  void weigh_product(const Strip& strip, RowsOf<const T> keys, const T* queries, T* data,
                     const References<T>& refs, T* rows) const {
    const std::int64_t r = strip.vector * kLanes, width = strip.vectors * kLanes;
    const AlongRows<T> along{keys.row(strip.col), keys.stride};
    HWY_ALIGN T sums[kBlockRows];
    if constexpr (kThen == Then::sum) std::fill_n(sums, width, T(0));
    const Weigh<kThen, T, Fixed<kBlockRows>> out{data, kStride, refs.offset + r,
                                                 kThen == Then::sum ? sums : rows + r};
    const T* const q = queries + r;
    if (ahead_ != nullptr) {
      product(strip.cols, strip.vectors, program_.shape.D, AlongRowsFetching<T>{along, ahead_}, q,
              kStride, out);
    } else {
      product(strip.cols, strip.vectors, program_.shape.D, along, q, kStride, out);
    }
    if constexpr (kThen == Then::sum) {
      const TagOf<T> d;
      for (std::int64_t i = 0; i < width; i += kLanes) {
        hn::Store(hn::Add(hn::Load(d, rows + r + i), hn::Load(d, sums + i)), d, rows + r + i);
      }
    }
  }

  void hide(const Strip& strip, T* data) const {
    const Piece<T> scores = piece(strip, data);
    if (strip.kind == Strip::Kind::edge) {
      const std::int64_t r = strip.vector * kLanes;
      return hide_outside(scores, strip.col, plan_.first() + r, plan_.last() + r);
    }
    if (const auto [bytes, stride] = program_.mask->bits(batch_, head_); bytes != nullptr) {
      return hide_bits(scores, row_ + strip.vector * kLanes, bytes + strip.col, stride);
    }
    HWY_ALIGN std::uint8_t visible[kStripKeys * kBlockRows] = {};
    Region where = region();
    where.col = strip.col;
    where.cols = strip.cols;
    program_.mask->fill(where, visible, kBlockRows);
    hide_masked(scores, visible + strip.vector * kLanes, kBlockRows);
  }

  Region region() const { return {batch_, head_, row_, rows_, 0, program_.shape.keys(batch_)}; }

  const AttentionProgram<T>& program_;
  TileUnit<T> unit_;
  bool plain_;
  std::int64_t batch_, head_, row_, rows_, vectors_;
  KeyPlan plan_;
  const T* cut_scores_ = nullptr;
  const std::int32_t* cut_keys_ = nullptr;
  FetchAhead* ahead_ = nullptr;
};

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
