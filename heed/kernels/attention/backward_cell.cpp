#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention/backward_cell.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include <algorithm>
#include <cmath>

#include "heed/base/arena.h"
#include "heed/kernels/attention/backward_cell.h"
#include "heed/kernels/attention/block-inl.h"
#include "heed/kernels/attention/entmax-inl.h"
#include "heed/kernels/attention/padded_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

// One query head against a range of keys.
template <typename T>
class BackwardCell {
  using V = VecOf<T>;
  static constexpr std::int64_t kLanes = kLanesOf<T>;
  static constexpr std::int64_t kBlockRows = kBlockRowsOf<T>;
  static constexpr Fixed<kBlockRows> kStride{};
  static constexpr T kHidden = kHiddenOf<T>;
  static std::int64_t whole_vectors(std::int64_t n) { return (n + kLanes - 1) / kLanes * kLanes; }

 public:
  BackwardCell(const BackwardPass<T>& pass, std::int64_t cell)
      : pass_(pass),
        program_(pass.program),
        call_(pass.call),
        cell_(cell),
        at_(pass.grid.at(cell)),
        D_(program_.shape.D),
        Dv_(program_.shape.Dv),
        key_width_(whole_vectors(D_)),
        value_width_(whole_vectors(Dv_)),
        queries_(program_.shape.queries(at_.batch)),
        blocks_((queries_ + kBlockRows - 1) / kBlockRows),
        tile_keys_(tile_keys(std::max(D_, Dv_))),
        tile_(tile_keys_ * kBlockRows),
        ranges_(blocks_),
        packed_(blocks_ * kBlockRows * (2 * D_ + Dv_ + kRowArrays)),
        q_({call_.q.at(at_.batch, at_.head), call_.q.row}, blocks_ * kBlockRows, D_, key_width_),
        d_output_({call_.d_output.at(at_.batch, at_.head), call_.d_output.row},
                  blocks_ * kBlockRows, Dv_, value_width_),
        gradients_(pass.grid.span_keys() * (key_width_ + value_width_)),
        tiles_(3 * tile_ + pass.modifiers.space(tile_) + pass.reweights.space(tile_)),
        modifiers_(pass.modifiers, tile_, tiles_.data() + 3 * tile_,
                   {pass.modifier_sums, pass.grid.cells(), cell}),
        reweights_(pass.reweights, tile_, tiles_.data() + 3 * tile_ + pass.modifiers.space(tile_),
                   {pass.reweight_sums, pass.grid.cells(), cell}),
        unused_sums_(is_entmax() ? pass.reweights.sums() : 0),
        first_reweights_(pass.reweights, tile_,
                         tiles_.data() + 3 * tile_ + pass.modifiers.space(tile_),
                         {unused_sums_.data(), 1, 0}) {
    const std::int64_t kv_head = at_.head / program_.shape.group();
    keys_ = {call_.k.at(at_.batch, kv_head), call_.k.row};
    values_ = {call_.v.at(at_.batch, kv_head), call_.v.row};
  }

  void run() {
    if (pass_.sink_sums != nullptr && at_.part == 0) add_sink_gradient();
    const std::int64_t begin = at_.part * pass_.grid.part_keys();
    const std::int64_t end = begin + pass_.grid.part_keys();
    const std::int64_t last = std::min(end, program_.shape.keys(at_.batch));
    for (std::int64_t b = 0; b < blocks_; ++b) prepare_block(b, begin, last);
    std::int64_t place = at_.part * places_per_part();
    for (std::int64_t from = begin; from < end; from += pass_.grid.span_keys()) {
      span(from, std::max(from, std::min(last, from + pass_.grid.span_keys())), place);
      place += places_per_span();
    }
    for (std::int64_t b = 0; b < blocks_; ++b) store_block(b);
  }

 private:
  // ---- queries: packed once for all visible keys of the part -----------------------------------

  struct KeyRange {
    std::int64_t begin, end;
    bool far = false;    // a row's reference has a base
    bool finite = true;  // all queries and gradients of the block are finite; computed only if a
                         // key may be hidden
  };

  void prepare_block(std::int64_t b, std::int64_t begin, std::int64_t end) {
    const std::int64_t row = b * kBlockRows;
    const Block<T> block(program_, at_.batch, at_.head, row);
    ranges_[b] = {std::max(begin, block.plan().begin()), std::min(end, block.plan().end())};
    if (!visible(b)) return;
    q_.pad(row, row + block.rows());
    d_output_.pad(row, row + block.rows());
    pack_block(b, block);
    if (program_.mask != nullptr || program_.top_k > 0) {
      const std::int64_t packed = block.vectors() * kLanes;
      ranges_[b].finite = all_finite<T>({minus_delta(b), kBlockRows}, 1, packed) &&
                          all_finite<T>({queries(b), kBlockRows}, D_, packed) &&
                          all_finite<T>({d_output(b), kBlockRows}, Dv_, packed);
    }
    if (is_entmax()) find_delta(b, block);
  }
  bool is_entmax() const { return program_.normaliser == Normalise::entmax; }
  bool visible(std::int64_t b) const { return ranges_[b].begin < ranges_[b].end; }

  void pack_block(std::int64_t b, const Block<T>& block) {
    const std::int64_t row = b * kBlockRows;
    pack_transposed<T>(q_.at(row), block.rows(), D_, {queries(b), kBlockRows},
                       block.query_factor());
    pack_transposed<T>(d_output_.at(row), block.rows(), Dv_, {d_output(b), kBlockRows}, T(1));
    std::fill_n(d_queries(b), D_ * kBlockRows, T(0));
    std::fill_n(minus_delta(b), kBlockRows, T(0));
    std::fill_n(base(b), kBlockRows, T(0));
    std::fill_n(offset(b), kBlockRows, T(0));
    std::fill_n(row_factors(b), kBlockRows, T(0));
    if (program_.normaliser != Normalise::softmax && !is_entmax()) return;
    for (std::int64_t r = 0; r < block.rows(); ++r) {
      const RowScale<T> scale = row_scale(row + r);
      if (is_entmax()) {
        base(b)[r] = scale.base;
        levels(b)[r] = scale.reference;
        continue;
      }
      minus_delta(b)[r] = -delta(row + r);
      base(b)[r] = scale.base;
      offset(b)[r] = -scale.reference;
      row_factors(b)[r] = scale.factor;
      ranges_[b].far = ranges_[b].far || scale.base != T(0);
    }
  }

  RowScale<T> row_scale(std::int64_t row) const {
    if (call_.scales.data != nullptr) return *call_.scales.at(at_.batch, at_.head, row);
    const T log_sum = *call_.log_sum_exp.at(at_.batch, at_.head, row) * kLog2EOf<T>;
    if (log_sum == kHidden) return {};
    const T reference = std::nearbyint(log_sum);
    return {reference, std::exp2(reference - log_sum)};
  }

  // Softmax's gradient is weights * (dP - delta) with delta = sum(dP * weights) = dO . O.
  T delta(std::int64_t row) const {
    const auto& d_log_sums = call_.d_log_sum_exp;
    if (call_.output.data == nullptr) return -*d_log_sums.at(at_.batch, at_.head, row);
    const T* const o = call_.output.at(at_.batch, at_.head, row);
    const T* const g = call_.d_output.at(at_.batch, at_.head, row);
    const T dot = sum_row<T>(Dv_, [=](auto part, std::int64_t i, V sum) HWY_ATTR {
      return hn::MulAdd(part.load(o + i), part.load(g + i), sum);
    });
    return d_log_sums.data == nullptr ? dot : dot - *d_log_sums.at(at_.batch, at_.head, row);
  }

  // Entmax's gradient is slope * (dP - delta), where delta is the mean of dP over all keys of the
  // row, weighted by the slopes. It takes a pass of its own, whose stages sum no gradients.
  void find_delta(std::int64_t b, const Block<T>& block) {
    const RowBlock<T> rows = row_block(b, block);
    modifiers_.begin(rows);
    first_reweights_.begin(rows);
    HWY_ALIGN T slopes[kBlockRows] = {};
    HWY_ALIGN T products[kBlockRows] = {};
    const KeyPlan& plan = block.plan();
    for (std::int64_t from = plan.begin(); from < plan.end(); from += tile_keys_) {
      strips_.clear();
      plan.cut(from, std::min(plan.end(), from + tile_keys_), strips_);
      for (const Strip& strip : strips_) {
        const std::int64_t at = Block<T>::offset(strip, from), r = strip.vector * kLanes;
        weights_of(block, b, strip, at, first_reweights_);
        d_weights_of(block, b, strip, at, first_reweights_);
        sum_entmax_slopes(Block<T>::piece(strip, d_scores() + at), program_.alpha, weights() + at,
                          slopes + r, products + r);
      }
    }
    for (std::int64_t r = 0; r < block.rows(); ++r) {
      minus_delta(b)[r] = slopes[r] == T(0) ? T(0) : -products[r] / slopes[r];
    }
  }

  // A sink's value is 0, and so is the gradient of its weight.
  void add_sink_gradient() {
    const T* const log_sums = call_.log_sum_exp.at(at_.batch, at_.head);
    for (std::int64_t r = 0; r < queries_; ++r) {
      if (log_sums[r] == kHidden) continue;
      pass_.sink_sums[cell_] -= sink_weight(r, log_sums[r]) * delta(r);
    }
  }
  T sink_weight(std::int64_t row, T log_sum) const {
    const T sink = program_.sinks[at_.head];
    const RowScale<T> scale = row_scale(row);
    if (scale.base == T(0)) return std::exp(sink - log_sum);
    const RowReference<T> reference{scale.base, scale.reference};
    const T score = sink * TileUnit<T>(program_).from_score;
    return std::exp2(reference.log2_of(score, TileUnit<T>(program_).log2)) * scale.factor;
  }

  // With several parts of a head, a block has no dq in parts whose keys are all hidden from it.
  void store_block(std::int64_t b) {
    const std::int64_t row = b * kBlockRows;
    const std::int64_t rows = std::min(kBlockRows, queries_ - row);
    const RowsOf<T> to{pass_.dq.at(at_.batch, at_.head, row) + at_.part * pass_.dq_part,
                       pass_.dq.row};
    if (pass_.has_dq != nullptr) {
      pass_.has_dq[cell_ * places_per_span() + b] = visible(b);
      if (!visible(b)) return;
    }
    if (!visible(b)) {
      for (std::int64_t r = 0; r < rows; ++r) std::fill_n(to.row(r), D_, T(0));
      return;
    }
    HWY_ALIGN T factors[kBlockRows];
    std::fill_n(factors, kBlockRows, program_.scale);
    unpack_transposed<T>({d_queries(b), kBlockRows}, rows, D_, factors, to);
  }

  // ---- keys: a span of them stays in cache while all queries are processed ---------------------

  // A cell takes its turn at each (span, block) of its part.
  std::int64_t places_per_span() const { return (program_.shape.Tq + kBlockRows - 1) / kBlockRows; }
  std::int64_t places_per_part() const {
    return pass_.grid.part_keys() / pass_.grid.span_keys() * places_per_span();
  }

  void span(std::int64_t from, std::int64_t to, std::int64_t place) {
    const std::int64_t head = at_.batch * program_.shape.H + at_.head;
    span_from_ = from;
    std::fill_n(d_keys(from), (to - from) * key_width_, T(0));
    std::fill_n(d_values(from), (to - from) * value_width_, T(0));
    for (std::int64_t b = 0; b < places_per_span(); ++b) {
      if (pass_.turns != nullptr) pass_.turns->wait(place + b, head);
      if (b < blocks_) {
        visit(b, {std::max(from, ranges_[b].begin), std::min(to, ranges_[b].end)});
      }
      if (pass_.turns != nullptr) pass_.turns->pass(place + b, head);
    }
    store_rows(from, to);
  }

  void store_rows(std::int64_t from, std::int64_t to) {
    const T scale = program_.additive == nullptr ? program_.scale : T(1);
    for (std::int64_t k = from; k < to; ++k) {
      put_row<T>(d_keys(k), D_, scale, pass_.add.dk, pass_.dk.at(at_.batch, at_.head, k));
      put_row<T>(d_values(k), Dv_, T(1), pass_.add.dv, pass_.dv.at(at_.batch, at_.head, k));
    }
  }

  // Processes one block of queries against the span.
  void visit(std::int64_t b, KeyRange keys) {
    if (keys.begin >= keys.end) return;
    Block<T> block(program_, at_.batch, at_.head, b * kBlockRows);
    if (program_.top_k > 0) read_cuts(block, b);
    const RowBlock<T> rows = row_block(b, block);
    modifiers_.begin(rows);
    reweights_.begin(rows);
    for (std::int64_t from = keys.begin; from < keys.end; from += tile_keys_) {
      strips_.clear();
      block.plan().cut(from, std::min(keys.end, from + tile_keys_), strips_);
      tile(block, b, from);
    }
    modifiers_.end(rows);
    reweights_.end(rows);
  }

  RowBlock<T> row_block(std::int64_t b, const Block<T>& block) const {
    RowBlock<T> rows = block.row_block();
    rows.queries = queries(b);
    rows.d_output = d_output(b);
    rows.d_scaled_queries = d_queries(b);
    return rows;
  }

  void read_cuts(Block<T>& block, std::int64_t b) {
    const RowCut<T>* const cuts = call_.cuts.at(at_.batch, at_.head, b * kBlockRows);
    for (std::int64_t r = 0; r < kBlockRows; ++r) {
      const RowCut<T> cut = r < block.rows() ? cuts[r] : RowCut<T>{};
      cut_scores_[r] = cut.score;
      cut_keys_[r] = cut.key;
    }
    block.set_cuts(cut_scores_, cut_keys_);
  }

  void tile(const Block<T>& block, std::int64_t b, std::int64_t col) {
    const bool finite = masked_finite(block, b);
    for (const Strip& strip : strips_) {
      const std::int64_t at = Block<T>::offset(strip, col);
      weights_of(block, b, strip, at, reweights_);
      d_scores_of(block, b, strip, at, finite);
    }
    for (const Strip& strip : strips_) add_d_values(block, b, strip, col, finite);
    if (program_.additive != nullptr) {
      for (const Strip& strip : strips_) add_additive(block, b, strip, col);
      return;
    }
    strips_.for_each_run([&](const Strip& run) { add_d_queries(block, b, run, col, finite); });
    for (const Strip& strip : strips_) add_d_keys(block, b, strip, col, finite);
  }

  // Recomputes the weights of the forward pass; if stages changed them, also those that values were
  // multiplied with.
  void weights_of(const Block<T>& block, std::int64_t b, const Strip& strip, std::int64_t at,
                  const StageRun<T>& reweights) {
    T* const data = weights() + at;
    const Piece<T> piece = Block<T>::piece(strip, data);
    if (program_.normaliser == Normalise::softmax) {
      const References<T> refs{base(b), offset(b), ranges_[b].far};
      block.template weights<Then::scale>(strip, keys_, queries(b), data, modifiers_, at, refs,
                                          row_factors(b));
    } else {
      block.scores(strip, keys_, queries(b), data, modifiers_, at);
      const std::int64_t r = strip.vector * kLanes;
      if (program_.normaliser == Normalise::sigmoid) weigh_sigmoid(piece);
      if (is_entmax()) weigh_entmax(piece, program_.alpha, base(b) + r, levels(b) + r);
    }
    // Without a normaliser they stay scores: the gradient finds hidden keys by their -inf.
    if (reweights.empty()) return;
    for (std::int64_t k = 0; k < strip.cols; ++k) {
      std::copy_n(piece.at(k, 0), strip.vectors * kLanes, read_weights() + at + k * kBlockRows);
    }
    if (program_.normaliser == Normalise::none) {
      weigh_plainly(Block<T>::piece(strip, read_weights() + at));
    }
    reweights.forward(block.tile(strip, read_weights() + at), at);
  }

  // The gradient of the weights before all reweights, in d_scores().
  void d_weights_of(const Block<T>& block, std::int64_t b, const Strip& strip, std::int64_t at,
                    const StageRun<T>& reweights) {
    const AlongRows<T> values{values_.row(strip.col), values_.stride};
    T* const data = d_scores() + at;
    product(strip.cols, strip.vectors, Dv_, values, d_output(b) + strip.vector * kLanes, kStride,
            Put{data, kStride});
    if (!reweights.empty()) reweights.backward(block.tile(strip, data), at);
  }

  void d_scores_of(const Block<T>& block, std::int64_t b, const Strip& strip, std::int64_t at,
                   bool finite) {
    const std::int64_t r = strip.vector * kLanes;
    const AlongRows<T> values{values_.row(strip.col), values_.stride};
    T* const data = d_scores() + at;
    const bool simple = finite || !block.masks(strip);
    if (program_.normaliser == Normalise::softmax && reweights_.empty() && simple) {
      product(strip.cols, strip.vectors, Dv_, values, d_output(b) + r, kStride,
              SoftmaxGradient{data, kStride, minus_delta(b) + r, weights() + at});
    } else {
      d_weights_of(block, b, strip, at, reweights_);
      const Piece<T> piece = Block<T>::piece(strip, data);
      if (is_entmax()) {
        entmax_backward(piece, program_.alpha, weights() + at, minus_delta(b) + r);
      } else {
        normaliser_backward(program_.normaliser, piece, weights() + at, minus_delta(b) + r);
      }
      if (program_.normaliser == Normalise::none)
        weigh_plainly(Block<T>::piece(strip, weights() + at));
    }
    if (!modifiers_.empty()) modifiers_.backward(block.tile(strip, data), at);
  }

  void add_d_queries(const Block<T>& block, std::int64_t b, const Strip& run, std::int64_t col,
                     bool finite) {
    const T* const data = d_scores() + Block<T>::offset(run, col);
    const AcrossRows<T> keys{keys_.row(run.col), keys_.stride};
    const AddTo out{d_queries(b) + run.vector * kLanes, kStride};
    if (finite || !block.masks(run)) {
      product(D_, run.vectors, run.cols, keys, data, kStride, out);
    } else {
      product_of_visible(D_, run.vectors, run.cols, keys, data, kBlockRows, out);
    }
  }

  void add_d_keys(const Block<T>& block, std::int64_t b, const Strip& strip, std::int64_t col,
                  bool finite) {
    const std::int64_t row = b * kBlockRows + strip.vector * kLanes;
    const auto multiply = finite || !block.masks(strip)
                              ? product<AlongRows<T>, std::int64_t, AddTo<T>>
                              : product_by_visible<AlongRows<T>, AddTo<T>>;
    multiply(strip.cols, key_width_ / kLanes, block.rows_of(strip),
             AlongRows<T>{d_scores() + Block<T>::offset(strip, col), kBlockRows}, q_.at(row).data,
             q_.at(row).stride, AddTo<T>{d_keys(strip.col), key_width_});
  }

  void add_d_values(const Block<T>& block, std::int64_t b, const Strip& strip, std::int64_t col,
                    bool finite) {
    const std::int64_t row = b * kBlockRows + strip.vector * kLanes;
    const T* const read = reweights_.empty() ? weights() : read_weights();
    const auto multiply = finite || !block.masks(strip)
                              ? product<AlongRows<T>, std::int64_t, AddTo<T>>
                              : product_by_visible<AlongRows<T>, AddTo<T>>;
    multiply(strip.cols, value_width_ / kLanes, block.rows_of(strip),
             AlongRows<T>{read + Block<T>::offset(strip, col), kBlockRows}, d_output_.at(row).data,
             d_output_.at(row).stride, AddTo<T>{d_values(strip.col), value_width_});
  }

  void add_additive(const Block<T>& block, std::int64_t b, const Strip& strip, std::int64_t col) {
    const AdditiveGradients<T> to{d_queries(b) + strip.vector * kLanes,
                                  {d_keys(strip.col), key_width_},
                                  pass_.additive_sums + cell_ * D_};
    additive_backward(block.additive(strip, keys_, queries(b)),
                      Block<T>::piece(strip, d_scores() + Block<T>::offset(strip, col)),
                      block.rows_of(strip), to);
  }

  // Whether all values that a weight of 0 must cancel are finite, in the strips with hidden keys.
  bool masked_finite(const Block<T>& block, std::int64_t b) const {
    return block.all_masked(strips_, [&](const Strip& strip) HWY_ATTR {
      return ranges_[b].finite &&
             all_finite<T>({keys_.row(strip.col), keys_.stride}, strip.cols, D_) &&
             all_finite<T>({values_.row(strip.col), values_.stride}, strip.cols, Dv_);
    });
  }

  // ---- memory ----------------------------------------------------------------------------------

  static constexpr std::int64_t kRowArrays = 4;
  T* weights() const { return tiles_.data(); }
  T* d_scores() const { return tiles_.data() + tile_; }
  T* read_weights() const { return tiles_.data() + 2 * tile_; }
  T* block_memory(std::int64_t b) const {
    return packed_.data() + b * kBlockRows * (2 * D_ + Dv_ + kRowArrays);
  }
  T* queries(std::int64_t b) const { return block_memory(b); }
  T* d_queries(std::int64_t b) const { return block_memory(b) + D_ * kBlockRows; }
  T* d_output(std::int64_t b) const { return block_memory(b) + 2 * D_ * kBlockRows; }
  T* minus_delta(std::int64_t b) const { return d_output(b) + Dv_ * kBlockRows; }
  T* offset(std::int64_t b) const { return minus_delta(b) + kBlockRows; }
  T* levels(std::int64_t b) const { return offset(b); }  // of entmax instead
  T* row_factors(std::int64_t b) const { return offset(b) + kBlockRows; }
  T* base(std::int64_t b) const { return row_factors(b) + kBlockRows; }
  T* d_keys(std::int64_t key) const { return gradients_.data() + (key - span_from_) * key_width_; }
  T* d_values(std::int64_t key) const {
    return gradients_.data() + pass_.grid.span_keys() * key_width_ +
           (key - span_from_) * value_width_;
  }

  const BackwardPass<T>& pass_;
  const AttentionProgram<T>& program_;
  const AttentionBackward<T>& call_;
  std::int64_t cell_;
  PartAt at_;
  std::int64_t D_, Dv_, key_width_, value_width_, queries_, blocks_, tile_keys_, tile_;
  Scratch<KeyRange> ranges_;  // range of visible keys of each block in this part
  Scratch<T> packed_;
  PaddedRows<T> q_, d_output_;
  Scratch<T> gradients_, tiles_;
  StageRun<T> modifiers_, reweights_;
  Scratch<T> unused_sums_;
  StageRun<T> first_reweights_;  // for find_delta, with the same memory
  RowsOf<const T> keys_, values_;
  std::int64_t span_from_ = 0;
  T cut_scores_[kBlockRows];  // for top_k
  std::int32_t cut_keys_[kBlockRows];
  KeyPlan::Strips strips_;
};

std::int64_t rows_f32() { return kBlockRowsOf<float>; }
std::int64_t rows_f64() { return kBlockRowsOf<double>; }

void cell_f32(const BackwardPass<float>& pass, std::int64_t cell) {
  BackwardCell<float>(pass, cell).run();
}
void cell_f64(const BackwardPass<double>& pass, std::int64_t cell) {
  BackwardCell<double>(pass, cell).run();
}

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {

HWY_EXPORT(rows_f32);
HWY_EXPORT(rows_f64);
HWY_EXPORT(cell_f32);
HWY_EXPORT(cell_f64);

}  // namespace

template <>
std::int64_t backward_block_rows<float>() {
  return HEED_DISPATCH(rows_f32)();
}
template <>
std::int64_t backward_block_rows<double>() {
  return HEED_DISPATCH(rows_f64)();
}

void backward_cell(const BackwardPass<float>& pass, std::int64_t cell) {
  HEED_DISPATCH(cell_f32)(pass, cell);
}
void backward_cell(const BackwardPass<double>& pass, std::int64_t cell) {
  HEED_DISPATCH(cell_f64)(pass, cell);
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
