// The forward pass of one block of queries.
#if defined(HEED_KERNELS_ATTENTION_FORWARD_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ATTENTION_FORWARD_BLOCK_INL_H_
#undef HEED_KERNELS_ATTENTION_FORWARD_BLOCK_INL_H_
#else
#define HEED_KERNELS_ATTENTION_FORWARD_BLOCK_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "heed/base/arena.h"
#include "heed/kernels/attention/bf16_pairs-inl.h"
#include "heed/kernels/attention/block-inl.h"
#include "heed/kernels/attention/entmax-inl.h"
#include "heed/kernels/attention/forward_pass.h"
#include "heed/kernels/attention/grid.h"
#include "heed/kernels/attention/top_scores-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Weights are powers of two relative to a reference per row: the maximum over its first visible
// keys. Later scores may be higher, which shows in the row's sum: above kRescale the reference is
// raised, above kOverflow the tile is computed again with its own maximum. So the exponentials of a
// tile do not need its maximum first.
inline constexpr float kRescale = 0x1p32f;
inline constexpr float kOverflow = 0x1p100f;
// Number of keys that determine the reference of a row.
inline constexpr std::int64_t kFirstKeys = 64;
// Size of keys and values that do not stay in a cache near the core.
inline constexpr std::int64_t kFarBytes = 1 << 21;
// The maximum of a tile raises the reference only if it is higher by this much (log2).
inline constexpr float kRaise = 8.0f;
// A tile whose sum exceeds kOverflow has a score that is higher by more than this (log2).
inline constexpr float kTooHigh = 64.0f;

// In place of PairProducts: products of floats or doubles.
struct NoPairs {
  template <typename T>
  NoPairs(const AttentionProgram<T>&, const PairedOperands&, std::int64_t, std::int64_t, T*) {}
  static std::int64_t memory(const AttentionShape&, std::int64_t) { return 0; }
  static std::int64_t tile_keys(std::int64_t features) {
    return HWY_NAMESPACE::tile_keys(features);
  }
};

template <typename T, class Pairs = NoPairs>
class ForwardBlock {
  using V = VecOf<T>;
  static constexpr bool kPaired = !std::is_same_v<Pairs, NoPairs>;
  static constexpr std::int64_t kLanes = kLanesOf<T>;
  static constexpr std::int64_t kBlockRows = kBlockRowsOf<T>;
  static constexpr T kHidden = kHiddenOf<T>;

 public:
  ForwardBlock(const ForwardPass<T>& pass, const BlockAt& at)
      : program_(pass.program),
        call_(pass.call),
        at_(at),
        block_(program_, at.batch, at.head, at.row, kPaired),
        tile_keys_(Pairs::tile_keys(std::max(program_.shape.D, program_.shape.Dv))),
        memory_(kRowArrays * kBlockRows +
                (program_.shape.D + program_.shape.Dv + tile_keys_) * kBlockRows +
                pass.modifiers.space(0) + pass.reweights.space(0) +
                Pairs::memory(program_.shape, tile_keys_)),
        all_scores_(is_entmax() ? block_.plan().keys() * kBlockRows : 0),
        modifiers_(pass.modifiers, 0, stage_memory()),
        reweights_(pass.reweights, 0, stage_memory() + pass.modifiers.space(0)),
        pairs_(program_, pass.pairs, at.batch, at.head / program_.shape.group(),
               stage_memory() + pass.modifiers.space(0) + pass.reweights.space(0)) {
    const std::int64_t kv_head = at.head / program_.shape.group();
    keys_ = {call_.k.at(at.batch, kv_head), call_.k.row};
    values_ = {call_.v.at(at.batch, kv_head), call_.v.row};
  }

  void run() {
    pack_transposed<T>({call_.q.at(at_.batch, at_.head, at_.row), call_.q.row}, block_.rows(),
                       program_.shape.D, {queries(), kBlockRows},
                       kPaired ? T(1) : block_.query_factor());
    if constexpr (kPaired) pairs_.set_queries(queries());
    fetch_rows();
    std::fill_n(output(), program_.shape.Dv * kBlockRows, T(0));
    std::fill_n(sums(), kBlockRows, T(0));
    std::fill_n(top(), kBlockRows, kHidden);
    std::fill_n(base(), kBlockRows, T(0));
    std::fill_n(offset(), kBlockRows, T(0));
    RowBlock<T> rows = block_.row_block();
    rows.queries = queries();
    rows.output = output();
    modifiers_.begin(rows);
    reweights_.begin(rows);
    if (program_.top_k > 0) find_cuts();
    if (is_entmax()) find_levels();
    for (std::int64_t from = block_.plan().begin(), to; from < block_.plan().end(); from = to) {
      const bool first = program_.normaliser == Normalise::softmax && !settled_;
      to = std::min(block_.plan().end(), from + (first ? kFirstKeys : tile_keys_));
      strips_.clear();
      block_.plan().cut(from, to, strips_);
      tile(strips_, from);
      fetch_keys(to + tile_keys_);
    }
    std::fill_n(factors(), kBlockRows, T(1));
    if (program_.normaliser == Normalise::softmax) close_rows();
    rows.row_factors = factors();
    modifiers_.end(rows);
    reweights_.end(rows);
    unpack_transposed<T>({output(), kBlockRows}, block_.rows(), program_.shape.Dv, factors(),
                         {call_.output.at(at_.batch, at_.head, at_.row), call_.output.row});
  }

 private:
  // Prefetches the output rows of this block and the queries of the block that is likely to come
  // next.
  void fetch_rows() {
    const auto& q = call_.q;
    const auto& out = call_.output;
    const std::int64_t next = std::max<std::int64_t>(at_.row - kBlockRows, 0);
    ahead_.add(q.at(at_.batch, at_.head, next), q.row, at_.row - next, program_.shape.D);
    ahead_.add(out.at(at_.batch, at_.head, at_.row), out.row, block_.rows(), program_.shape.Dv);
    block_.set_ahead(&ahead_);
  }

  // Prefetches keys one tile ahead if a head is too long for the near caches: gains 7 % with 8192
  // keys at d = 128, 16 % with 16384 (Zen 4, with 5 MB of L3 available).
  void fetch_keys(std::int64_t from) {
    const std::int64_t D = program_.shape.D;
    const std::int64_t end = block_.plan().end();
    if ((end - block_.plan().begin()) * (D + program_.shape.Dv) <
        kFarBytes / static_cast<std::int64_t>(sizeof(T)))
      return;
    ahead_.clear();
    ahead_.add(keys_.row(from), keys_.stride, std::min(end - from, tile_keys_), D);
  }

  void tile(const KeyPlan::Strips& strips, std::int64_t col) {
    if (program_.normaliser != Normalise::softmax) {
      pointwise(strips, col);
    } else if (!settled_ || cautious_) {
      score_tile(strips, col);
      raise_references();
      weigh_tile(strips, col);
    } else if (!quick_tile(strips, col)) {
      repeat_tile(strips, col);
    }
    read(strips, col);
  }

  // Computes all scores of the block and from them the bases and levels of entmax.
  void find_levels() {
    const KeyPlan& plan = block_.plan();
    std::fill_n(all_scores_.data(), plan.keys() * kBlockRows, kHidden);
    std::fill_n(base(), kBlockRows, kHidden);
    for (std::int64_t from = plan.begin(); from < plan.end(); from += tile_keys_) {
      strips_.clear();
      plan.cut(from, std::min(plan.end(), from + tile_keys_), strips_);
      for (const Strip& strip : strips_) {
        T* const data = tile_data(strip, from);
        score(strip, data);
        raise_maxima(Block<T>::piece(strip, data), base() + strip.vector * kLanes);
      }
    }
    std::replace(base(), base() + kBlockRows, kHidden, T(0));
    find_entmax_levels(Piece<T>{all_scores_.data(), kBlockRows, plan.keys(), block_.vectors()},
                       program_.alpha, base(), levels());
    if (call_.scales.data == nullptr) return;
    RowScale<T>* const scales = call_.scales.at(at_.batch, at_.head, at_.row);
    for (std::int64_t r = 0; r < block_.rows(); ++r) scales[r] = {levels()[r], T(1), base()[r]};
  }

  // Finds the k-th best score of each row, in a separate pass over all scores.
  void find_cuts() {
    TopScores<T> best(kBlockRows, program_.top_k);
    for (std::int64_t from = block_.plan().begin(); from < block_.plan().end();
         from += tile_keys_) {
      strips_.clear();
      block_.plan().cut(from, std::min(block_.plan().end(), from + tile_keys_), strips_);
      for (const Strip& strip : strips_) {
        T* const data = scores() + Block<T>::offset(strip, from);
        score(strip, data);
        offer_scores(best, Block<T>::piece(strip, data), strip.vector * kLanes, strip.col);
      }
    }
    for (std::int64_t r = 0; r < kBlockRows; ++r) {
      const RowCut<T> cut = best.cut(r);
      cut_scores_[r] = cut.score;
      cut_keys_[r] = cut.key;
      if (call_.cuts.data == nullptr || r >= block_.rows()) continue;
      call_.cuts.at(at_.batch, at_.head, at_.row)[r] = cut;
    }
    block_.set_cuts(cut_scores_, cut_keys_);
  }

  // Computes weights with the current references. If a sum overflows, returns false and changes
  // nothing.
  bool quick_tile(const KeyPlan::Strips& strips, std::int64_t col) {
    std::copy_n(sums(), kBlockRows, sums_before());
    for (const Strip& strip : strips) {
      T* const data = scores() + Block<T>::offset(strip, col);
      if constexpr (kPaired) {
        score(strip, data);
        block_.template weigh_strip<Then::sum>(strip, data, references(), sums());
      } else {
        block_.template weights<Then::sum>(strip, keys_, queries(), data, modifiers_, 0,
                                           references(), sums());
      }
    }
    if (check_sums()) return true;
    std::copy_n(sums_before(), kBlockRows, sums());
    return false;
  }

  // Whether all sums that were not NaN before are in range. The exponential of a score far above
  // its reference may have any sign, so a sum that overflowed may also be negative or NaN.
  bool check_sums() {
    const TagOf<T> d;
    V most = hn::Zero(d);
    bool good = true;
    for (std::int64_t r = 0; r < block_.vectors() * kLanes; r += kLanes) {
      const V sum = hn::Load(d, sums() + r), before = hn::Load(d, sums_before() + r);
      const auto in_range = hn::And(hn::Ge(sum, hn::Zero(d)), hn::Lt(sum, hn::Set(d, kOverflow)));
      good = good && hn::AllTrue(d, hn::Or(in_range, hn::Ne(before, before)));
      most = hn::Max(sum, most);
    }
    raise_ = !hn::AllTrue(d, hn::Lt(most, hn::Set(d, kRescale)));
    return good;
  }

  // Computes a tile again after quick_tile failed. If no score is too high, one of them is NaN, and
  // the other rows of the block get the same weights as without it.
  void repeat_tile(const KeyPlan::Strips& strips, std::int64_t col) {
    score_tile(strips, col);
    raise_ = false;
    cautious_ = any_too_high();
    if (cautious_) raise_references();
    weigh_tile(strips, col);
    if (!cautious_) check_sums();
  }

  // The scores of a strip after modifiers and masks.
  void score(const Strip& strip, T* data) {
    if constexpr (kPaired) {
      pairs_.scores(strip, data);
      block_.finish_scores(strip, data, modifiers_, 0);
    } else {
      block_.scores(strip, keys_, queries(), data, modifiers_, 0);
    }
  }

  // The scores of a tile and their maxima.
  void score_tile(const KeyPlan::Strips& strips, std::int64_t col) {
    std::fill_n(tile_top(), kBlockRows, kHidden);
    for (const Strip& strip : strips) {
      T* const data = scores() + Block<T>::offset(strip, col);
      score(strip, data);
      raise_maxima(Block<T>::piece(strip, data), tile_top() + strip.vector * kLanes);
    }
  }
  void weigh_tile(const KeyPlan::Strips& strips, std::int64_t col) {
    for (const Strip& strip : strips) {
      T* const data = scores() + Block<T>::offset(strip, col);
      block_.template weigh_strip<Then::sum>(strip, data, references(), sums());
    }
  }

  // The maxima of the tile as base-2 logarithms, relative to the bases.
  V tile_level(std::int64_t r) const {
    const TagOf<T> d;
    const V above = hn::Sub(hn::Load(d, tile_top() + r), hn::Load(d, base() + r));
    return hn::Mul(above, hn::Set(d, block_.unit().log2));
  }
  bool any_too_high() const {
    const TagOf<T> d;
    bool any = false;
    for (std::int64_t r = 0; r < block_.vectors() * kLanes; r += kLanes) {
      const V limit = hn::Add(hn::Load(d, top() + r), hn::Set(d, kTooHigh));
      any = any || !hn::AllFalse(d, hn::Gt(tile_level(r), limit));
    }
    return any;
  }

  // Raises references to the maxima of the tile and rescales the sums so far.
  void raise_references() {
    const TagOf<T> d;
    const V none = hn::Set(d, kHidden), unit = hn::Set(d, block_.unit().log2);
    bool moved = false;
    settled_ = true;
    for (std::int64_t r = 0; r < block_.vectors() * kLanes; r += kLanes) {
      const V most = hn::Load(d, tile_top() + r);
      const V base_before = hn::Load(d, base() + r), before = hn::Load(d, top() + r);
      const auto first = hn::And(hn::Eq(before, none), hn::Gt(most, none));
      const auto higher = hn::Gt(tile_level(r), hn::Add(before, hn::Set(d, kRaise)));
      const auto raise = hn::Or(first, higher);
      const V level = hn::Mul(most, unit);
      const auto far = hn::Gt(hn::Abs(level), hn::Set(d, kMaxOffset));
      const V new_base = hn::IfThenElse(raise, hn::IfThenElseZero(far, most), base_before);
      const V whole = hn::IfThenElse(raise, hn::IfThenZeroElse(far, hn::Round(level)), before);
      const auto found = hn::Gt(whole, none);
      hn::Store(whole, d, top() + r);
      hn::Store(new_base, d, base() + r);
      hn::Store(hn::IfThenElseZero(found, hn::Neg(whole)), d, offset() + r);
      const V lower = hn::MulAdd(hn::Sub(base_before, new_base), unit, hn::Sub(before, whole));
      const auto again = hn::AndNot(first, raise);
      hn::Store(hn::IfThenElse(again, Exp2Weight<T>(lower), hn::Set(d, T(1))), d, factors() + r);
      const auto summed = hn::Ne(hn::Load(d, sums() + r), hn::Zero(d));
      moved = moved || !hn::AllFalse(d, hn::And(raise, summed));
      settled_ = settled_ && hn::AllTrue(d, found);
      huge_ = huge_ || !hn::AllFalse(d, hn::And(raise, far));
    }
    cautious_ = cautious_ || huge_;
    if (moved) scale_sums();
  }

  // The sums have grown large: moves their exponents into the references.
  void absorb_exponents() {
    for (std::int64_t r = 0; r < block_.rows(); ++r) {
      factors()[r] = T(1);
      if (!(sums()[r] > T(1024))) continue;
      int exponent = 0;
      std::frexp(sums()[r], &exponent);
      factors()[r] = std::ldexp(T(1), -exponent);
      top()[r] += static_cast<T>(exponent);
      offset()[r] = -top()[r];
    }
    scale_sums();
    raise_ = false;
  }

  void scale_sums() {
    const TagOf<T> d;
    std::fill(factors() + block_.rows(), factors() + kBlockRows, T(1));
    for (std::int64_t r = 0; r < block_.vectors() * kLanes; r += kLanes) {
      const V factor = hn::Load(d, factors() + r);
      hn::Store(hn::Mul(hn::Load(d, sums() + r), factor), d, sums() + r);
      for (std::int64_t f = 0; f < program_.shape.Dv; ++f) {
        T* const x = output() + f * kBlockRows + r;
        hn::Store(hn::Mul(hn::Load(d, x), factor), d, x);
      }
    }
    reweights_.rescale(factors());
  }

  // Weights that need no sum over keys, or none any more.
  void pointwise(const KeyPlan::Strips& strips, std::int64_t col) {
    for (const Strip& strip : strips) {
      T* const data = tile_data(strip, col);
      const Piece<T> piece = Block<T>::piece(strip, data);
      if (is_entmax()) {
        const std::int64_t r = strip.vector * kLanes;
        weigh_entmax(piece, program_.alpha, base() + r, levels() + r);
        continue;
      }
      score(strip, data);
      program_.normaliser == Normalise::sigmoid ? weigh_sigmoid(piece) : weigh_plainly(piece);
    }
  }

  // output += values * weights.
  void read(const KeyPlan::Strips& strips, std::int64_t col) {
    if (!reweights_.empty()) {
      for (const Strip& strip : strips) {
        reweights_.forward(block_.tile(strip, tile_data(strip, col)), 0);
      }
    }
    const bool finite = values_finite(strips);
    strips.for_each_run([&](const Strip& run) {
      const T* const weights = tile_data(run, col);
      const AcrossRows<T> values{values_.row(run.col), values_.stride};
      const AddTo out{output() + run.vector * kLanes, Block<T>::kStride};
      const std::int64_t Dv = program_.shape.Dv;
      if (kPaired && (finite || !block_.masks(run))) {
        if constexpr (kPaired) pairs_.read(run, weights, out.c);
      } else if (finite || !block_.masks(run)) {
        product(Dv, run.vectors, run.cols, values, weights, Block<T>::kStride, out);
      } else {
        product_of_visible(Dv, run.vectors, run.cols, values, weights, kBlockRows, out);
      }
    });
    if (raise_) absorb_exponents();
  }

  // Whether all values of masked strips are finite, so that a weight of 0 hides them.
  bool values_finite(const KeyPlan::Strips& strips) const {
    return block_.all_masked(strips, [this](const Strip& strip) HWY_ATTR {
      return all_finite<T>({values_.row(strip.col), values_.stride}, strip.cols, program_.shape.Dv);
    });
  }

  // factors = 1 / sums of the rows; also writes the requested results of the rows.
  void close_rows() {
    const TagOf<T> d;
    if (program_.sinks != nullptr) add_sink();
    for (std::int64_t r = 0; r < block_.rows(); r += kLanes) {
      const V sum = hn::Load(d, sums() + r);
      const auto empty = hn::Eq(sum, hn::Zero(d));  // false for a row of NaN, which stays NaN
      const V one = hn::Set(d, T(1));
      hn::Store(hn::IfThenZeroElse(empty, hn::Div(one, sum)), d, factors() + r);
    }
    if (call_.scales.data != nullptr) {
      RowScale<T>* const scales = call_.scales.at(at_.batch, at_.head, at_.row);
      for (std::int64_t r = 0; r < block_.rows(); ++r) {
        scales[r] = {-offset()[r], factors()[r], base()[r]};
      }
    }
    if (call_.log_sum_exp.data == nullptr) return;
    for (std::int64_t r = 0; r < block_.rows(); r += kLanes) {
      const V sum = hn::Load(d, sums() + r);
      const V above = hn::MulAdd(hn::Load(d, top() + r), hn::Set(d, kLn2Of<T>), LogOf<T>(sum));
      const V to_score = hn::Set(d, block_.unit().to_score);
      const V log = hn::MulAdd(hn::Load(d, base() + r), to_score, above);
      const auto empty = hn::Eq(sum, hn::Zero(d));
      hn::Store(hn::IfThenElse(empty, hn::Set(d, kHidden), log), d, top() + r);
    }
    std::copy_n(top(), block_.rows(), call_.log_sum_exp.at(at_.batch, at_.head, at_.row));
  }

  // Adds the sink to the sums. A reference below the sink is raised to it.
  void add_sink() {
    const T sink = program_.sinks[at_.head] * block_.unit().from_score, unit = block_.unit().log2;
    RowReference<T> at_sink = RowReference<T>::at(sink, unit);
    at_sink.log2 = std::nearbyint(at_sink.log2);
    for (std::int64_t r = 0; r < block_.rows(); ++r) {
      const RowReference<T> before{base()[r], top()[r]};
      const bool none = before.log2 == kHidden;
      const bool raise = sink > kHidden && (none || at_sink.log2_over(before, unit) > T(0));
      const RowReference<T>& now = raise ? at_sink : before;
      factors()[r] = none ? T(0) : std::exp2(before.log2_over(now, unit));
      if (!raise) continue;
      base()[r] = now.base;
      top()[r] = now.log2;
      offset()[r] = -now.log2;
    }
    scale_sums();
    for (std::int64_t r = 0; r < block_.rows(); ++r) {
      const RowReference<T> at{base()[r], top()[r]};
      if (at.log2 > kHidden) sums()[r] += std::exp2(at.log2_of(sink, unit));
    }
  }

  References<T> references() const { return {base(), offset(), huge_}; }

  static constexpr std::int64_t kRowArrays = 7;
  T* row_array(std::int64_t i) const { return memory_.data() + i * kBlockRows; }
  T* sums() const { return row_array(0); }
  T* sums_before() const { return row_array(1); }
  T* base() const { return row_array(2); }    // the bases of the references (weights-inl.h)
  T* top() const { return row_array(3); }     // the rest of them, log2, integers
  T* offset() const { return row_array(4); }  // top negated, 0 where there is no reference
  T* levels() const { return row_array(4); }  // of entmax instead
  T* tile_top() const { return row_array(5); }
  T* factors() const { return row_array(6); }
  T* queries() const { return row_array(kRowArrays); }
  T* output() const { return queries() + program_.shape.D * kBlockRows; }
  T* scores() const { return output() + program_.shape.Dv * kBlockRows; }
  T* stage_memory() const { return scores() + tile_keys_ * kBlockRows; }

  // The scores or weights of a strip in the tile whose first key is `col`. Entmax keeps all tiles.
  T* tile_data(const Strip& strip, std::int64_t col) const {
    if (is_entmax()) return all_scores_.data() + Block<T>::offset(strip, block_.plan().begin());
    return scores() + Block<T>::offset(strip, col);
  }
  bool is_entmax() const { return program_.normaliser == Normalise::entmax; }

  const AttentionProgram<T>& program_;
  const AttentionForward<T>& call_;
  BlockAt at_;
  Block<T> block_;
  std::int64_t tile_keys_;
  Scratch<T> memory_;
  Scratch<T> all_scores_;  // of entmax, [keys of the plan][kBlockRows]
  StageRun<T> modifiers_, reweights_;
  Pairs pairs_;
  RowsOf<const T> keys_, values_;
  KeyPlan::Strips strips_;
  FetchAhead ahead_;
  T cut_scores_[kBlockRows];  // for top_k
  std::int32_t cut_keys_[kBlockRows];
  bool settled_ = false;   // every row has a reference
  bool cautious_ = false;  // a sum overflowed in this block, and may again
  bool raise_ = false;     // a sum is large
  bool huge_ = false;      // a reference has a base
};

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
