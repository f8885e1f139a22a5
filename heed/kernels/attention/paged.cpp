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

// Rows of queries of one head of keys, of one sequence, over the positions of some spans.
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
        q_(cell.count * shape_.D),
        scores_(cell.count * kBlockPositions),
        sums_(cell.count * width_),
        totals_(cell.count * kWidth),
        rows_(cell.count) {
    for (std::int64_t j = 0; j < cell.count; ++j) {
      const std::int64_t t = (cell.first + j) / grid.group;
      const std::int64_t head = cell.g * grid.group + (cell.first + j) % grid.group;
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

  void run_span(std::int64_t span) {
    std::fill_n(sums_.data(), sums_.size(), 0.0f);
    std::fill_n(totals_.data(), totals_.size(), 0.0f);
    for (std::int64_t j = 0; j < cell_.count; ++j) rows_[j].top = kNothing;
    const std::int64_t first = std::max(span * kSpanPositions, rows_[0].begin);
    const std::int64_t last = std::min((span + 1) * kSpanPositions, rows_[cell_.count - 1].end);
    for (std::int64_t at = first; at < last;) {
      const std::int64_t block = at / kBlockPositions * kBlockPositions;
      const std::int64_t next = std::min(last, block + kBlockPositions);
      run_block(block, at, next);
      at = next;
    }
    for (std::int64_t j = 0; j < cell_.count; ++j) {
      const float total = hn::GetLane(hn::SumOfLanes(F32(), hn::LoadU(F32(), total_of(j))));
      store(rows_[j], total, sums_.data() + j * width_, span);
    }
  }

  // The positions [first, last) of the block of positions that starts at `block`.
  void run_block(std::int64_t block, std::int64_t first, std::int64_t last) {
    score(block, first, last);
    for (std::int64_t j = 0; j < cell_.count; ++j) {
      modify(j, block, first, last);
      weigh(j, block, first, last);
    }
    add_values(block, first, last);
  }

  // ---- products ----

  // The keys, or the values, of the pages of a block.
  paged::Pages<E> pages_of(std::int64_t block, std::int64_t last, std::int64_t part) const {
    paged::Pages<E> pages;
    const std::int64_t first = block / kPagePositions;
    for (std::int64_t i = 0; (first + i) * kPagePositions < last; ++i) {
      const std::byte* const now = sequence_.pages[first + i];
      pages.now[i] = now == nullptr ? nullptr : numbers(now + part);
      const std::int64_t later = first + i + kBlockPages;
      pages.later[i] = later < pages_ ? sequence_.pages[later] + part : nullptr;
    }
    return pages;
  }

  void score(std::int64_t block, std::int64_t first, std::int64_t last) const {
    const auto keys = pages_of(block, last, shape_.keys_at(cell_.g));
    const auto fetched = without_later(keys);
    const std::int64_t start = block / kPagePositions;
    const std::int64_t pages = (last + kPagePositions - 1) / kPagePositions;
    const auto from = static_cast<int>(first / kPagePositions - start);
    const auto to = static_cast<int>(std::min(pages, full_) - start);
    paged::for_rows(cell_.count, [&](auto rows, std::int64_t j) HWY_ATTR {
      constexpr int R = decltype(rows)::value;
      const paged::Rows these{q_.data() + j * shape_.D, shape_.D,
                              scores_.data() + j * kBlockPositions};
      paged::score_pages<R>(these, j == 0 ? keys : fetched, from, to);
      if (full_ < pages) {
        paged::score_keys<R>(these, keys.now[full_ - start], full_ * kPagePositions - block,
                             last - full_ * kPagePositions);
      }
    });
  }

  void add_values(std::int64_t block, std::int64_t first, std::int64_t last) const {
    const auto values = pages_of(block, last, shape_.values_at(cell_.g));
    const auto fetched = without_later(values);
    paged::for_rows(cell_.count, [&](auto rows, std::int64_t j) HWY_ATTR {
      paged::add_values<decltype(rows)::value>(
          paged::Values<E>{.pages = j == 0 ? values : fetched,
                           .first = first - block,
                           .last = last - block,
                           .width = width_,
                           .weights = scores_.data() + j * kBlockPositions,
                           .sums = sums_.data() + j * width_});
    });
  }

  static paged::Pages<E> without_later(paged::Pages<E> pages) {
    std::fill_n(pages.later, kBlockPages, nullptr);
    return pages;
  }

  const E* numbers(const std::byte* part) const {
    return reinterpret_cast<const E*>(part + shape_.scale_bytes());
  }

  // ---- scores and weights ----

  // Multiplies the numbers of [first, last) by the scales of their positions.
  HWY_INLINE void apply_scales(float* x, std::int64_t block, std::int64_t first, std::int64_t last,
                               std::int64_t part) const {
    const F32 d;
    for (std::int64_t page = first / kPagePositions; page * kPagePositions < last; ++page) {
      const auto* const scales = reinterpret_cast<const float*>(sequence_.pages[page] + part);
      float* const to = x + page * kPagePositions - block;
      for (std::int64_t i = 0; i < kPagePositions; i += kWidth) {
        hn::StoreU(hn::Mul(hn::LoadU(d, to + i), hn::LoadU(d, scales + i)), d, to + i);
      }
    }
  }

  // Scores of row j: scales of int8, bias, soft cap; then what the query does not attend to.
  HWY_INLINE void modify(std::int64_t j, std::int64_t block, std::int64_t first,
                         std::int64_t last) const {
    const F32 d;
    const Row& row = rows_[j];
    float* const scores = scores_.data() + j * kBlockPositions;
    if constexpr (std::is_same_v<E, std::int8_t>) {
      apply_scales(scores, block, first, last, shape_.keys_at(cell_.g));
    }
    if (call_.bias.numbers != nullptr) {
      const PagedBias& bias = call_.bias;
      const float* const more = bias.numbers + row.head * bias.head_stride + bias.count - row.end;
      const std::int64_t visible = std::min(last, row.end);
      for (std::int64_t i = first; i < visible; ++i) scores[i - block] += kUnit * more[i];
    }
    if (call_.soft_cap > 0.0f) {
      const float most = call_.soft_cap * kUnit;
      const VF cap = hn::Set(d, most), inverse = hn::Set(d, 1.0f / most);
      for (std::int64_t i = 0; i < kBlockPositions; i += kWidth) {
        const VF x = hn::LoadU(d, scores + i);
        hn::StoreU(hn::Mul(cap, Tanh(d, hn::Mul(x, inverse))), d, scores + i);
      }
    }
    const std::int64_t from = std::max(first, row.begin), to = std::min(last, row.end);
    if (from > block) std::fill_n(scores, std::min(from - block, kBlockPositions), kNothing);
    if (to < block + kBlockPositions) {
      const std::int64_t hidden = std::max<std::int64_t>(to - block, 0);
      std::fill(scores + hidden, scores + kBlockPositions, kNothing);
    }
    if (call_.weights == nullptr) return;
    float* const seen =
        call_.weights + ((cell_.row * call_.H + row.head) * call_.T + row.t) * call_.weights_stride;
    std::copy(scores + first - block, scores + last - block, seen + first);
  }

  // Scores of row j become weights relative to the greatest score so far.
  HWY_INLINE void weigh(std::int64_t j, std::int64_t block, std::int64_t first, std::int64_t last) {
    const F32 d;
    Row& row = rows_[j];
    float* const scores = scores_.data() + j * kBlockPositions;
    if (std::max(first, row.begin) >= std::min(last, row.end)) {
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
    VF total = hn::LoadU(d, total_of(j));
#pragma GCC unroll 4
    for (std::int64_t i = 0; i < kBlockPositions; i += kWidth) {
      const VF weight = Exp2Weight<float>(hn::Sub(hn::LoadU(d, scores + i), base));
      total = hn::Add(total, weight);
      hn::StoreU(weight, d, scores + i);
    }
    hn::StoreU(total, d, total_of(j));
    if constexpr (std::is_same_v<E, std::int8_t>) {
      apply_scales(scores, block, first, last, shape_.values_at(cell_.g));
    }
  }

  // A greater score was found.
  void rescale(std::int64_t j, float top) {
    const F32 d;
    const VF factor = Exp2Weight<float>(hn::Set(d, rows_[j].top - top));
    hn::StoreU(hn::Mul(hn::LoadU(d, total_of(j)), factor), d, total_of(j));
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

  float* total_of(std::int64_t j) const { return totals_.data() + j * kWidth; }

  const PagedCall& call_;
  const PagedGrid& grid_;
  const PagedCell cell_;
  const PageShape shape_;
  const PagedSequence sequence_;
  std::int64_t full_;      // number of full pages
  std::int64_t pages_;     // number of all pages
  std::int64_t width_;     // padded Dv
  Scratch<float> q_;       // [rows, D], scaled
  Scratch<float> scores_;  // [rows, kBlockPositions]: scores, then weights
  Scratch<float> sums_;    // [rows, width]
  Scratch<float> totals_;  // [rows, kWidth]
  Scratch<Row> rows_;
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
