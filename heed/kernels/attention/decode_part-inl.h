// One cell of attention_decode: a part of the keys of a kv head, against the queries that read it.
// For each block of keys it computes scores, then weights relative to a reference per row, then its
// contribution to the output.
#if defined(HEED_KERNELS_ATTENTION_DECODE_PART_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ATTENTION_DECODE_PART_INL_H_
#undef HEED_KERNELS_ATTENTION_DECODE_PART_INL_H_
#else
#define HEED_KERNELS_ATTENTION_DECODE_PART_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "heed/kernels/attention/block-inl.h"
#include "heed/kernels/attention/decode.h"
#include "heed/kernels/attention/decode_products-inl.h"
#include "heed/kernels/attention/decode_stages-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// x = 2^((x - base) * unit - log2), and the sum of it; n is a multiple of kLanes.
inline float weigh_row(float* x, std::int64_t n, float unit, const RowReference<float>& reference) {
  const F32 d;
  const VF base = hn::Set(d, reference.base), factor = hn::Set(d, unit);
  const VF shift = hn::Set(d, reference.log2 == kHidden ? 0.0f : -reference.log2);
  return sum_row(n, [=](auto part, std::int64_t i, VF sum) HWY_ATTR {
    const VF e = Exp2Weight<float>(hn::MulAdd(hn::Sub(part.load(x + i), base), factor, shift));
    part.store(e, x + i);
    return hn::Add(sum, e);
  });
}

template <typename T>
class DecodePart {
 public:
  DecodePart(const AttentionProgram<float>& program, const DecodeCall<T>& call,
             const DecodeCell& at, const DecodePartial& to)
      : program_(program),
        call_(call),
        at_(at),
        to_(to),
        group_(program.shape.group()),
        rows_(group_ * at.queries),
        block_keys_(block_keys(rows_)),
        key_units_(program.shape.D),
        value_units_(program.shape.Dv),
        memory_(rows_ * (key_units_.floats() + 2 * value_units_.floats() + block_keys_ + 1)),
        intervals_(2 * rows_ + group_),
        visible_(program.mask == nullptr ? 0 : kMaxTileKeys * visible_stride()),
        stages_(program_, at_) {
    float* p = memory_.data();
    queries_ = {p, key_units_.floats()};
    output_ = {p += rows_ * queries_.stride, value_units_.floats()};
    output_before_ = {p += rows_ * output_.stride, output_.stride};
    scores_ = {p += rows_ * output_.stride, block_keys_};
    factors_ = p + rows_ * block_keys_;
    keys_ = {call.k.at(at.batch, at.kv_head), call.k.row};
    values_ = {call.v.at(at.batch, at.kv_head), call.v.row};
  }

  void run() {
    std::fill_n(to_.sums, rows_, 0.0f);
    std::fill_n(to_.base, rows_, 0.0f);
    std::fill_n(to_.top, rows_, kHidden);
    find_intervals();
    if (begin_ >= end_ || rows_ == 0) return;
    pack_queries();
    std::fill_n(output_.data, rows_ * output_.stride, 0.0f);
    stages_.begin(call_.q, TileUnit<float>(program_).to_score);
    for (std::int64_t col = begin_; col < end_; col += block_keys_) {
      block(col, std::min(block_keys_, end_ - col));
    }
    store();
    stages_.end(to_.output);
  }

 private:
  // The scores of a block fit into L2 together with the keys and values.
  static std::int64_t block_keys(std::int64_t rows) {
    constexpr std::int64_t kScores = 1 << 16;
    const std::int64_t keys = kScores / std::max<std::int64_t>(rows, 1) / kLanes * kLanes;
    return std::clamp<std::int64_t>(keys, 4 * kLanes, kPartKeys);
  }

  bool softmax() const { return program_.normaliser == Normalise::softmax; }
  float unit() const { return TileUnit<float>(program_).log2; }

  std::int64_t head(std::int64_t h) const { return at_.kv_head * group_ + h; }
  Region region(std::int64_t h, std::int64_t col, std::int64_t cols) const {
    return {at_.batch, head(h), at_.row, at_.queries, col, cols};
  }
  std::int64_t* first() const { return intervals_.data(); }
  std::int64_t* last() const { return first() + rows_; }
  std::int64_t* exact() const { return last() + rows_; }  // for each head

  // The interval of visible keys of each row, and the smallest interval that contains them all.
  void find_intervals() {
    begin_ = at_.col;
    end_ = at_.col + at_.cols;
    if (program_.mask == nullptr || at_.cols == 0) return;
    for (std::int64_t h = 0; h < group_; ++h) {
      const std::int64_t r = h * at_.queries;
      exact()[h] = program_.mask->intervals(region(h, at_.col, at_.cols), first() + r, last() + r);
    }
    std::swap(begin_, end_);
    for (std::int64_t r = 0; r < rows_; ++r) {
      if (first()[r] >= last()[r]) continue;
      begin_ = std::min(begin_, first()[r]);
      end_ = std::max(end_, last()[r]);
    }
  }

  void pack_queries() {
    const float factor = program_.scale * TileUnit<float>(program_).from_score;
    std::fill_n(queries_.data, rows_ * queries_.stride, 0.0f);
    for (std::int64_t r = 0; r < rows_; ++r) {
      const float* const q = query(r);
      for (std::int64_t i = 0; i < program_.shape.D; ++i) {
        queries_.row(r)[Unit<T>::place(i)] = q[i] * factor;
      }
    }
  }
  const float* query(std::int64_t r) const {
    return call_.q.at(at_.batch, head(r / at_.queries), at_.row + r % at_.queries);
  }

  void block(std::int64_t col, std::int64_t n) {
    score_rows<T>({keys_.row(col), keys_.stride}, n, key_units_, rows_, constant(queries_),
                  scores_);
    stages_.modify(scores_, col, n);
    const bool hidden = hide(col, n);
    const std::int64_t whole = (n + kLanes - 1) / kLanes * kLanes;
    for (std::int64_t r = 0; r < rows_; ++r) {
      std::fill(scores_.row(r) + n, scores_.row(r) + whole, kHidden);
    }
    softmax() ? weigh(whole) : weigh_pointwise(whole);
    stages_.reweight(scores_, col, n);
    read({values_.row(col), values_.stride}, n, hidden);
  }

  // Sets the scores of hidden keys to -inf; returns whether there are any.
  bool hide(std::int64_t col, std::int64_t n) const {
    if (program_.mask == nullptr) return false;
    bool any = false;
    for (std::int64_t r = 0; r < rows_; ++r) {
      const std::int64_t from = std::clamp<std::int64_t>(first()[r] - col, 0, n);
      const std::int64_t to = std::clamp<std::int64_t>(last()[r] - col, from, n);
      std::fill_n(scores_.row(r), from, kHidden);
      std::fill(scores_.row(r) + to, scores_.row(r) + n, kHidden);
      any = any || from > 0 || to < n;
    }
    for (std::int64_t h = 0; h < group_; ++h) {
      if (exact()[h] != 0) continue;
      for (std::int64_t c = 0; c < n; c += kMaxTileKeys) {
        any = hide_masked_keys(h, region(h, col + c, std::min(kMaxTileKeys, n - c)), c) || any;
      }
    }
    return any;
  }
  bool hide_masked_keys(std::int64_t h, const Region& keys, std::int64_t at) const {
    const Cover cover = program_.mask->cover(keys);
    if (cover == Cover::all) return false;
    if (cover == Cover::some) {
      program_.mask->fill(keys, visible_.data(), visible_stride());
    } else {
      std::fill_n(visible_.data(), keys.cols * visible_stride(), std::uint8_t{0});
    }
    for (std::int64_t r = 0; r < at_.queries; ++r) {
      float* const x = scores_.row(h * at_.queries + r) + at;
      for (std::int64_t c = 0; c < keys.cols; ++c) {
        if (visible_[c * visible_stride() + r] == 0) x[c] = kHidden;
      }
    }
    return true;
  }
  std::int64_t visible_stride() const { return (at_.queries + kLanes - 1) / kLanes * kLanes; }

  void weigh(std::int64_t n) {
    // The maximum of the block raises the reference only if it is higher by this much (log2).
    constexpr float kRaise = 8.0f;
    bool moved = false;
    for (std::int64_t r = 0; r < rows_; ++r) {
      const float most = max_row(scores_.row(r), n, kHidden);
      const RowReference<float> before = reference(r);
      const bool first = before.log2 == kHidden;
      factors_[r] = 1.0f;
      if (first ? most > kHidden : (most - before.base) * unit() > before.log2 + kRaise) {
        const RowReference<float> now = RowReference<float>::at(most, unit());
        factors_[r] = first ? 0.0f : std::exp2(before.log2_over(now, unit()));
        to_.base[r] = now.base;
        to_.top[r] = now.log2;
        moved = moved || to_.sums[r] != 0.0f;
      }
    }
    if (moved) rescale();
    for (std::int64_t r = 0; r < rows_; ++r) {
      to_.sums[r] += weigh_row(scores_.row(r), n, unit(), reference(r));
    }
  }
  RowReference<float> reference(std::int64_t r) const { return {to_.base[r], to_.top[r]}; }
  void rescale() {
    const F32 d;
    for (std::int64_t r = 0; r < rows_; ++r) {
      if (factors_[r] == 1.0f) continue;
      to_.sums[r] *= factors_[r];
      float* const x = output_.row(r);
      for (std::int64_t i = 0; i < output_.stride; i += kLanes) {
        hn::Store(hn::Mul(hn::Load(d, x + i), hn::Set(d, factors_[r])), d, x + i);
      }
    }
    stages_.rescale(factors_);
  }

  void weigh_pointwise(std::int64_t n) const {
    for (std::int64_t r = 0; r < rows_; ++r) {
      const Piece<float> row{scores_.row(r), n, 1, n / kLanes};
      program_.normaliser == Normalise::sigmoid ? weigh_sigmoid(row) : weigh_plainly(row);
      to_.sums[r] = 1.0f;  // there is an output
    }
  }

  // output += weights * values. A hidden value has weight 0; if it is not finite, the result is NaN
  // and the block is computed again without the hidden values.
  void read(RowsOf<const T> values, std::int64_t n, bool hidden) const {
    const std::int64_t Dv = program_.shape.Dv;
    if (!hidden) return read_rows(values, n, Dv, rows_, constant(scores_), output_);
    std::copy_n(output_.data, rows_ * output_.stride, output_before_.data);
    read_rows(values, n, Dv, rows_, constant(scores_), output_);
    if (all_finite(constant(output_), rows_, output_.stride)) return;
    std::copy_n(output_before_.data, rows_ * output_.stride, output_.data);
    read_rows_visible(values, n, Dv, rows_, constant(scores_), output_);
  }

  void store() const {
    const std::int64_t Dv = program_.shape.Dv;
    for (std::int64_t r = 0; r < rows_; ++r) {
      for (std::int64_t i = 0; i < Dv; ++i) {
        to_.output[r * Dv + i] = output_.row(r)[Unit<T>::place(i)];
      }
    }
  }

  static RowsOf<const float> constant(RowsOf<float> x) { return {x.data, x.stride}; }

  const AttentionProgram<float>& program_;
  const DecodeCall<T>& call_;
  DecodeCell at_;
  DecodePartial to_;
  std::int64_t group_, rows_, block_keys_;
  Units<T> key_units_, value_units_;
  Scratch<float> memory_;
  Scratch<std::int64_t> intervals_;
  Scratch<std::uint8_t> visible_;
  DecodeStages stages_;
  RowsOf<float> queries_, output_, output_before_, scores_;
  float* factors_;
  RowsOf<const T> keys_, values_;
  std::int64_t begin_ = 0, end_ = 0;  // range of keys that are visible to any row
};

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
