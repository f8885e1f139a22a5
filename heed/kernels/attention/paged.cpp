#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention/paged.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include <algorithm>
#include <limits>
#include <type_traits>

#include "heed/base/arena.h"
#include "heed/base/error.h"
#include "heed/base/flops.h"
#include "heed/base/threads.h"
#include "heed/kernels/attention/paged.h"
#include "heed/kernels/attention/paged_grid.h"
#include "heed/kernels/attention/paged_products-inl.h"
#include "heed/kernels/attention/weights-inl.h"
#include "heed/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

using paged::kWidth;

constexpr float kNothing = -std::numeric_limits<float>::infinity();
// Scores are multiplied by this: weights are powers of two.
constexpr float kUnit = math::kLog2E;

// Bytes of a page between what is read and what is requested, rounded up to heads. More helps int8,
// whose heads are small; bf16 with d 64 reached 36 GB/s with 2 KB and 33 with 4 KB (Zen 5).
template <typename E>
constexpr std::int64_t kAheadBytes = sizeof(E) == 1 ? 8192 : 2048;

// Rows of queries of some heads of keys, of one sequence, over the positions of some spans. At each
// block of positions, first all heads get their scores, then weights, then values: the keys of the
// heads follow each other in a page, and so do their values, so memory is read in long pieces. And
// the maxima and exponentials of many rows do not wait for each other.
template <typename E>
class PagedRows {
 public:
  PagedRows(const PagedCall& call, const PagedGrid& grid, const PagedCell& cell)
      : call_(call),
        grid_(grid),
        cell_(cell),
        shape_(call.shape),
        sequence_(call.sequences[cell.row]),
        full_(sequence_.length / kPagePositions),
        pages_((sequence_.length + kPagePositions - 1) / kPagePositions),
        width_(shape_.padded_values()),
        ahead_(std::min(cell.heads, (kAheadBytes<E> - 1) / shape_.key_bytes() + 1)),
        q_(rows_of(cell) * shape_.D),
        scores_(rows_of(cell) * kBlockPositions),
        sums_(rows_of(cell) * width_),
        totals_(rows_of(cell) * kWidth),
        rows_(rows_of(cell)) {
    for (std::int64_t j = 0; j < rows_.size(); ++j) {
      const std::int64_t row = cell.first + j % cell.count, t = row / grid.group;
      const std::int64_t head = (cell.first_head + j / cell.count) * grid.group + row % grid.group;
      rows_[j] = {.head = head,
                  .t = t,
                  .begin = call.begin(cell.row, t),
                  .end = call.end(cell.row, t),
                  .top = kNothing};
      const float* const from =
          call.q + cell.row * call.q_row + head * call.q_head + t * call.q_position;
      const float scale = call.scale * kUnit;
      for (std::int64_t i = 0; i < shape_.D; ++i) q_[j * shape_.D + i] = from[i] * scale;
    }
  }

  void run() {
    for (std::int64_t span = cell_.first_span; span < cell_.last_span; ++span) run_span(span);
  }

 private:
  struct Row {
    std::int64_t head, t;     // of the query
    std::int64_t begin, end;  // the positions that it attends to
    float top;                // the greatest score so far
  };
  static std::int64_t rows_of(const PagedCell& cell) { return cell.heads * cell.count; }
  // The positions [first, last) of the block of positions that starts at `start`.
  struct Block {
    std::int64_t start, first, last;
  };

  void run_span(std::int64_t span) {
    std::fill_n(sums_.data(), sums_.size(), 0.0f);
    std::fill_n(totals_.data(), totals_.size(), 0.0f);
    for (std::int64_t j = 0; j < rows_.size(); ++j) rows_[j].top = kNothing;
    const std::int64_t first = std::max(span * kSpanPositions, rows_[0].begin);
    const std::int64_t last = std::min((span + 1) * kSpanPositions, rows_[cell_.count - 1].end);
    for (std::int64_t at = first; at < last;) {
      const std::int64_t start = at / kBlockPositions * kBlockPositions;
      const std::int64_t next = std::min(last, start + kBlockPositions);
      run_block({start, at, next});
      at = next;
    }
    for (std::int64_t j = 0; j < rows_.size(); ++j) {
      const float* const totals = totals_.data() + j * kWidth;
      const float total = hn::GetLane(hn::SumOfLanes(F32(), hn::LoadU(F32(), totals)));
      store(rows_[j], total, sums_.data() + j * width_, span);
    }
  }

  void run_block(const Block& block) {
    for (std::int64_t i = 0; i < cell_.heads; ++i) score(i, block);
    for (std::int64_t j = 0; j < rows_.size(); ++j) {
      modify(j, block);
      weigh(j, block);
    }
    for (std::int64_t i = 0; i < cell_.heads; ++i) add_values(i, block);
  }

  // ---- products ----

  // The keys, or the values, of a head in the pages of a block, and what is read later, so many
  // pages after them.
  paged::Pages<E> pages_of(const Block& block, std::int64_t part, std::int64_t pages_later,
                           std::int64_t later_part) const {
    const std::int64_t first = block.start / kPagePositions;
    return {.pages = sequence_.pages + first,
            .at = part + shape_.scale_bytes(),
            .later_at = later_part + shape_.scale_bytes(),
            .later = static_cast<int>(pages_later),
            .last = static_cast<int>(pages_ - 1 - first),
            .fetches = true};
  }
  // After the keys of the last head come the values of the first one.
  paged::Pages<E> keys_of(std::int64_t i, const Block& block) const {
    const std::int64_t first = cell_.first_head, later = i + ahead_;
    return pages_of(block, shape_.keys_at(first + i), 0,
                    later < cell_.heads ? shape_.keys_at(first + later)
                                        : shape_.values_at(first + later - cell_.heads));
  }
  // After the values of the last head come the keys of the first one in the next block.
  paged::Pages<E> values_of(std::int64_t i, const Block& block) const {
    const std::int64_t first = cell_.first_head, later = i + ahead_;
    const bool is_next = later >= cell_.heads;
    return pages_of(
        block, shape_.values_at(first + i), is_next ? kBlockPages : 0,
        is_next ? shape_.keys_at(first + later - cell_.heads) : shape_.values_at(first + later));
  }

  // Requests the scales of head i in the next block, whose lines are not among those that products
  // request.
  void fetch_scales(std::int64_t i, const Block& block) const {
    const std::int64_t head = cell_.first_head + i;
    const std::int64_t first = block.start / kPagePositions + kBlockPages;
    for (std::int64_t page = first; page < std::min(first + kBlockPages, pages_); ++page) {
      hwy::Prefetch(sequence_.pages[page] + shape_.keys_at(head));
      hwy::Prefetch(sequence_.pages[page] + shape_.values_at(head));
    }
  }

  // Scores of the rows of head i of the cell.
  void score(std::int64_t i, const Block& block) const {
    auto keys = keys_of(i, block);
    const std::int64_t start = block.start / kPagePositions;
    const std::int64_t pages = (block.last + kPagePositions - 1) / kPagePositions;
    const auto from = static_cast<int>(block.first / kPagePositions - start);
    const auto to = static_cast<int>(std::min(pages, full_) - start);
    paged::for_rows(cell_.count, [&](auto rows, std::int64_t first) HWY_ATTR {
      constexpr int R = decltype(rows)::value;
      const std::int64_t j = i * cell_.count + first;
      const paged::Rows these{q_.data() + j * shape_.D, shape_.D,
                              scores_.data() + j * kBlockPositions};
      paged::score_pages<R>(these, keys, from, to);
      keys.fetches = false;
      if (full_ < pages) {
        paged::score_keys<R>(these, keys.now(static_cast<int>(full_ - start)),
                             full_ * kPagePositions - block.start,
                             block.last - full_ * kPagePositions);
      }
    });
  }

  void add_values(std::int64_t i, const Block& block) const {
    auto values = values_of(i, block);
    if constexpr (std::is_same_v<E, std::int8_t>) fetch_scales(i, block);
    paged::for_rows(cell_.count, [&](auto rows, std::int64_t first) HWY_ATTR {
      const std::int64_t j = i * cell_.count + first;
      paged::add_values<decltype(rows)::value>(
          paged::Values<E>{.pages = values,
                           .first = block.first - block.start,
                           .last = block.last - block.start,
                           .width = width_,
                           .weights = scores_.data() + j * kBlockPositions,
                           .sums = sums_.data() + j * width_});
      values.fetches = false;
    });
  }

  // ---- scores and weights ----

  // The head of keys of row j.
  std::int64_t head_of(std::int64_t j) const { return cell_.first_head + j / cell_.count; }

  // Multiplies the numbers of a block by the scales of their positions.
  HWY_INLINE void apply_scales(float* x, const Block& block, std::int64_t part) const {
    const F32 d;
    for (std::int64_t page = block.first / kPagePositions; page * kPagePositions < block.last;
         ++page) {
      const auto* const scales = reinterpret_cast<const float*>(sequence_.pages[page] + part);
      float* const to = x + page * kPagePositions - block.start;
      for (std::int64_t i = 0; i < kPagePositions; i += kWidth) {
        hn::StoreU(hn::Mul(hn::LoadU(d, to + i), hn::LoadU(d, scales + i)), d, to + i);
      }
    }
  }

  // Scores of row j: scales of int8, bias, soft cap; then what the query does not attend to.
  HWY_INLINE void modify(std::int64_t j, const Block& block) const {
    const F32 d;
    const Row& row = rows_[j];
    float* const scores = scores_.data() + j * kBlockPositions;
    if constexpr (std::is_same_v<E, std::int8_t>) {
      apply_scales(scores, block, shape_.keys_at(head_of(j)));
    }
    if (call_.bias.numbers != nullptr) {
      const PagedBias& bias = call_.bias;
      const float* const more = bias.numbers + row.head * bias.head_stride + bias.count - row.end;
      const std::int64_t visible = std::min(block.last, row.end);
      for (std::int64_t i = block.first; i < visible; ++i)
        scores[i - block.start] += kUnit * more[i];
    }
    if (call_.soft_cap > 0.0f) {
      const float most = call_.soft_cap * kUnit;
      const VF cap = hn::Set(d, most), inverse = hn::Set(d, 1.0f / most);
      for (std::int64_t i = 0; i < kBlockPositions; i += kWidth) {
        const VF x = hn::LoadU(d, scores + i);
        hn::StoreU(hn::Mul(cap, Tanh(d, hn::Mul(x, inverse))), d, scores + i);
      }
    }
    const std::int64_t from = std::max(block.first, row.begin), to = std::min(block.last, row.end);
    if (from > block.start) {
      std::fill_n(scores, std::min(from - block.start, kBlockPositions), kNothing);
    }
    if (to < block.start + kBlockPositions) {
      const std::int64_t hidden = std::max<std::int64_t>(to - block.start, 0);
      std::fill(scores + hidden, scores + kBlockPositions, kNothing);
    }
    if (call_.weights == nullptr) return;
    float* const seen =
        call_.weights + ((cell_.row * call_.H + row.head) * call_.T + row.t) * call_.weights_stride;
    std::copy(scores + block.first - block.start, scores + block.last - block.start,
              seen + block.first);
  }

  // Scores of row j become weights relative to the greatest score so far.
  HWY_INLINE void weigh(std::int64_t j, const Block& block) const {
    const F32 d;
    const Row& row = rows_[j];
    float* const scores = scores_.data() + j * kBlockPositions;
    if (std::max(block.first, row.begin) >= std::min(block.last, row.end)) {
      std::fill_n(scores, kBlockPositions, 0.0f);
      return;
    }
    VF most = hn::LoadU(d, scores);
#pragma GCC unroll 16
    for (std::int64_t i = kWidth; i < kBlockPositions; i += kWidth) {
      most = hn::Max(most, hn::LoadU(d, scores + i));
    }
    const float top = hn::GetLane(hn::MaxOfLanes(d, most));
    if (top > row.top) rescale(j, top);
    const VF base = hn::Set(d, row.top);
    float* const totals = totals_.data() + j * kWidth;
    VF total = hn::LoadU(d, totals);
#pragma GCC unroll 4
    for (std::int64_t i = 0; i < kBlockPositions; i += kWidth) {
      const VF weight = Exp2Weight<float>(hn::Sub(hn::LoadU(d, scores + i), base));
      total = hn::Add(total, weight);
      hn::StoreU(weight, d, scores + i);
    }
    hn::StoreU(total, d, totals);
    if constexpr (std::is_same_v<E, std::int8_t>) {
      apply_scales(scores, block, shape_.values_at(head_of(j)));
    }
  }

  // A greater score was found.
  void rescale(std::int64_t j, float top) const {
    const F32 d;
    const VF factor = Exp2Weight<float>(hn::Set(d, rows_[j].top - top));
    float* const totals = totals_.data() + j * kWidth;
    hn::StoreU(hn::Mul(hn::LoadU(d, totals), factor), d, totals);
    for (std::int64_t i = 0; i < width_; i += kWidth) {
      float* const sum = sums_.data() + j * width_ + i;
      hn::StoreU(hn::Mul(hn::LoadU(d, sum), factor), d, sum);
    }
    rows_[j].top = top;
  }

  // ---- results ----

  // The output, or a part of it if there are several spans.
  void store(const Row& row, float total, const float* sums, std::int64_t span) const {
    if (float* const part = grid_.part(cell_.row, row.t, row.head, span); part != nullptr) {
      part[0] = row.top;
      part[1] = total;
      std::copy_n(sums, shape_.Dv, part + 2);
      return;
    }
    float* const output =
        call_.output + ((cell_.row * call_.T + row.t) * call_.H + row.head) * shape_.Dv;
    const float factor = total == 0.0f ? 0.0f : 1.0f / total;
    for (std::int64_t i = 0; i < shape_.Dv; ++i) output[i] = sums[i] * factor;
  }

  const PagedCall& call_;
  const PagedGrid& grid_;
  const PagedCell cell_;
  const PageShape shape_;
  const PagedSequence sequence_;
  std::int64_t full_;      // number of full pages
  std::int64_t pages_;     // number of all pages
  std::int64_t width_;     // padded Dv
  std::int64_t ahead_;     // heads from what is read to what is requested
  Scratch<float> q_;       // [heads, rows, D], scaled
  Scratch<float> scores_;  // [heads, rows, kBlockPositions]: scores, then weights
  Scratch<float> sums_;    // [heads, rows, width]
  Scratch<float> totals_;  // [heads, rows, kWidth]
  Scratch<Row> rows_;      // [heads, rows]
};

void run_cell(const PagedCall& call, const PagedGrid& grid, const PagedCell& cell) {
  switch (call.shape.form) {
    case CacheForm::f32:
      return PagedRows<float>(call, grid, cell).run();
    case CacheForm::bf16:
      return PagedRows<BFloat16>(call, grid, cell).run();
    case CacheForm::int8:
      return PagedRows<std::int8_t>(call, grid, cell).run();
  }
}

// Joins the spans of one query of one head, and turns its scores into weights.
void join_spans(const PagedCall& call, const PagedGrid& grid, std::int64_t i) {
  const F32 d;
  const std::int64_t h = i % call.H, t = i / call.H % call.T, row = i / call.H / call.T;
  const std::int64_t Dv = call.shape.Dv;
  float top = kNothing;
  const std::int64_t first = grid.first_span(row), last = grid.last_span(row);
  for (std::int64_t span = first; span < last; ++span) {
    top = std::max(top, grid.part(row, t, h, span)[0]);
  }
  float* const output = call.output + i * Dv;
  std::fill_n(output, Dv, 0.0f);
  float total = 0.0f;
  for (std::int64_t span = first; span < last; ++span) {
    const float* const part = grid.part(row, t, h, span);
    if (part[1] == 0.0f) continue;
    const float factor = hn::GetLane(Exp2Weight<float>(hn::Set(d, part[0] - top)));
    total += factor * part[1];
    for (std::int64_t at = 0; at < Dv; ++at) output[at] += factor * part[2 + at];
  }
  const float factor = total == 0.0f ? 0.0f : 1.0f / total;
  for (std::int64_t at = 0; at < Dv; ++at) output[at] *= factor;
  if (call.weights == nullptr) return;
  float* const weights = call.weights + ((row * call.H + h) * call.T + t) * call.weights_stride;
  const VF base = hn::Set(d, total == 0.0f ? 0.0f : top), scale = hn::Set(d, factor);
  map_row(call.weights_stride, [&](auto part, std::int64_t at) HWY_ATTR {
    const VF weight = Exp2Weight<float>(hn::Sub(part.load(weights + at), base));
    part.store(hn::Mul(weight, scale), weights + at);
  });
}

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {

HWY_EXPORT(run_cell);
HWY_EXPORT(join_spans);

}  // namespace

void attention_paged(const PagedCall& call) {
  const PagedGrid grid(call);
  add_flops(grid.flops());
  if (call.weights != nullptr) {
    std::fill_n(call.weights, call.rows * call.H * call.T * call.weights_stride,
                -std::numeric_limits<float>::infinity());
  }
  const auto run = &HEED_DISPATCH(run_cell);
  parallel_for(grid.cells(), grid.cell_cost(),
               [&](std::int64_t i) { run(call, grid, grid.cell(i)); });
  if (!grid.has_parts()) return;
  const auto join = &HEED_DISPATCH(join_spans);
  parallel_for(call.rows * call.T * call.H, grid.join_cost(),
               [&](std::int64_t i) { join(call, grid, i); });
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
