#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention/paged.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include <algorithm>
#include <cstring>

#include "heed/base/arena.h"
#include "heed/base/error.h"
#include "heed/base/flops.h"
#include "heed/base/threads.h"
#include "heed/kernels/attention/paged.h"
#include "heed/kernels/math-inl.h"
#include "heed/kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

constexpr int kWidth = static_cast<int>(hn::MaxLanes(F32()));
constexpr int kVectors = static_cast<int>(kPagePositions) / kWidth;  // of one feature of a page
// Query heads that share the loads of keys and values, and pages whose scores are summed together.
constexpr int kHeads = kVectors > 2 ? 2 : 4;
constexpr int kPages = kVectors == 1 ? 4 : kVectors == 2 ? 2 : 1;
constexpr int kColumns = kVectors > 2 ? 2 : 4;  // vectors of values summed together

// The heads of queries of one head of keys, of one sequence.
class PagedHeads {
 public:
  PagedHeads(const PagedCall& call, std::int64_t row, std::int64_t g)
      : call_(call),
        shape_(call.shape),
        sequence_(call.sequences[row]),
        heads_(call.H / call.shape.G),
        pages_((sequence_.length + kPagePositions - 1) / kPagePositions),
        full_(sequence_.length / kPagePositions),
        q_(call.q + row * call.q_stride + g * heads_ * shape_.D),
        output_(call.output + (row * call.H + g * heads_) * shape_.Dv),
        weights_(call.weights == nullptr
                     ? nullptr
                     : call.weights + (row * call.H + g * heads_) * call.weights_stride),
        keys_at_(g * shape_.key_floats()),
        values_at_(shape_.G * shape_.key_floats() + g * shape_.value_floats()),
        stride_(pages_ * kPagePositions) {}

  void run() const {
    if (sequence_.length == 0) {
      std::fill_n(output_, heads_ * shape_.Dv, 0.0f);
      if (weights_ != nullptr) std::fill_n(weights_, heads_ * call_.weights_stride, 0.0f);
      return;
    }
    const Scratch<float> scores(heads_ * stride_);
    std::int64_t r = 0;
    for (; r + kHeads <= heads_; r += kHeads) run_heads<kHeads>(r, scores.data() + r * stride_);
    for (; r + 2 <= heads_; r += 2) run_heads<2>(r, scores.data() + r * stride_);
    for (; r < heads_; ++r) run_heads<1>(r, scores.data() + r * stride_);
  }

 private:
  template <int R>
  void run_heads(std::int64_t first, float* scores) const {
    std::int64_t page = 0;
    for (; page + kPages <= full_; page += kPages) score<R, kPages>(first, page, scores);
    for (; page < full_; ++page) score<R, 1>(first, page, scores);
    if (full_ < pages_) {
      for (int r = 0; r < R; ++r) score_last(first + r, scores + r * stride_);
    }
    for (int r = 0; r < R; ++r) weigh(first + r, scores + r * stride_);
    std::int64_t column = 0;
    const std::int64_t columns = shape_.padded_values();
    for (; column + kColumns * kWidth <= columns; column += kColumns * kWidth) {
      sum_values<R, kColumns>(first, column, scores);
    }
    for (; column < shape_.Dv; column += kWidth) sum_values<R, 1>(first, column, scores);
  }

  // The scores of the last page, whose keys follow each other.
  HWY_INLINE void score_last(std::int64_t head, float* scores) const {
    const F32 d;
    const float* const q = q_ + head * shape_.D;
    const float* const keys = sequence_.pages[full_] + keys_at_;
    for (std::int64_t i = full_ * kPagePositions; i < sequence_.length; ++i) {
      const float* const key = keys + (i - full_ * kPagePositions) * shape_.D;
      VF sum = hn::Zero(d);
      std::int64_t at = 0;
      for (; at + kWidth <= shape_.D; at += kWidth) {
        sum = hn::MulAdd(hn::LoadU(d, q + at), hn::LoadU(d, key + at), sum);
      }
      if (at < shape_.D) {
        const auto rest = static_cast<std::size_t>(shape_.D - at);
        sum = hn::MulAdd(LoadFirst(d, q + at, rest), LoadFirst(d, key + at, rest), sum);
      }
      scores[i] = hn::GetLane(hn::SumOfLanes(d, sum)) * call_.scale;
    }
  }

  // The scores of P full pages: sums of C parts of the features.
  template <int R, int P>
  HWY_INLINE void score(std::int64_t first, std::int64_t page, float* scores) const {
    // Fewer sums than the multipliers have stages would have to wait for each other.
    constexpr int C = R * P * kVectors >= 8 ? 1 : R * P * kVectors >= 4 ? 2 : 4;
    const F32 d;
    const float* keys[P];
    for (int p = 0; p < P; ++p) keys[p] = sequence_.pages[page + p] + keys_at_;
    VF sum[C][R][P * kVectors];
#pragma GCC unroll 4
    for (int c = 0; c < C; ++c) {
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
        for (int j = 0; j < P * kVectors; ++j) sum[c][r][j] = hn::Zero(d);
      }
    }
    const float* const q = q_ + first * shape_.D;
    const auto add_feature = [&](std::int64_t i, VF(&to)[R][P * kVectors]) HWY_ATTR {
      VF key[P * kVectors];
#pragma GCC unroll 8
      for (int j = 0; j < P * kVectors; ++j) {
        key[j] = hn::LoadU(d, keys[j / kVectors] + i * kPagePositions + j % kVectors * kWidth);
      }
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        const VF feature = hn::Set(d, q[r * shape_.D + i]);
#pragma GCC unroll 8
        for (int j = 0; j < P * kVectors; ++j) to[r][j] = hn::MulAdd(feature, key[j], to[r][j]);
      }
    };
    std::int64_t i = 0;
    for (; i + C <= shape_.D; i += C) {
#pragma GCC unroll 4
      for (int c = 0; c < C; ++c) add_feature(i + c, sum[c]);
    }
    for (; i < shape_.D; ++i) add_feature(i, sum[0]);
    const VF scale = hn::Set(d, call_.scale);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
      for (int j = 0; j < P * kVectors; ++j) {
        VF total = sum[0][r][j];
#pragma GCC unroll 4
        for (int c = 1; c < C; ++c) total = hn::Add(total, sum[c][r][j]);
        hn::StoreU(hn::Mul(total, scale), d,
                   scores + r * stride_ + page * kPagePositions + j * kWidth);
      }
    }
  }

  // Scores become weights.
  HWY_INLINE void weigh(std::int64_t head, float* scores) const {
    const F32 d;
    const std::int64_t n = sequence_.length;
    if (call_.soft_cap > 0.0f) {
      const VF cap = hn::Set(d, call_.soft_cap), inverse = hn::Set(d, 1.0f / call_.soft_cap);
      for (std::int64_t i = 0; i < stride_; i += kWidth) {
        const VF x = hn::LoadU(d, scores + i);
        hn::StoreU(hn::Mul(cap, Tanh(d, hn::Mul(x, inverse))), d, scores + i);
      }
    }
    std::fill(scores + n, scores + stride_, -std::numeric_limits<float>::infinity());
    const VF top = hn::Set(d, max_row(scores, n, -std::numeric_limits<float>::infinity()));
    VF total = hn::Zero(d);
    for (std::int64_t i = 0; i < stride_; i += kWidth) {
      const VF weight = Exp(d, hn::Sub(hn::LoadU(d, scores + i), top));
      total = hn::Add(total, weight);
      hn::StoreU(weight, d, scores + i);
    }
    const VF factor = hn::Set(d, 1.0f / hn::GetLane(hn::SumOfLanes(d, total)));
    for (std::int64_t i = 0; i < stride_; i += kWidth) {
      hn::StoreU(hn::Mul(hn::LoadU(d, scores + i), factor), d, scores + i);
    }
    if (weights_ == nullptr) return;
    float* const to = weights_ + head * call_.weights_stride;
    std::copy_n(scores, n, to);
    std::fill_n(to + n, call_.weights_stride - n, 0.0f);
  }

  // N vectors of the output of R heads: the sum of values times weights, even and odd positions
  // apart.
  template <int R, int N>
  HWY_INLINE void sum_values(std::int64_t first, std::int64_t column, const float* weights) const {
    const F32 d;
    const std::int64_t width = shape_.padded_values();
    VF sum[2][R][N];
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
        for (int j = 0; j < N; ++j) sum[half][r][j] = hn::Zero(d);
      }
    }
    for (std::int64_t page = 0; page < pages_; ++page) {
      const float* const values = sequence_.pages[page] + values_at_ + column;
      const float* const w = weights + page * kPagePositions;
      const std::int64_t count = std::min(kPagePositions, sequence_.length - page * kPagePositions);
      std::int64_t i = 0;
      for (; i + 2 <= count; i += 2) {
#pragma GCC unroll 2
        for (int half = 0; half < 2; ++half) {
          add<R, N>(values + (i + half) * width, w + i + half, sum[half]);
        }
      }
      if (i < count) add<R, N>(values + i * width, w + i, sum[0]);
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
      for (int j = 0; j < N; ++j) {
        const std::int64_t at = column + j * kWidth;
        const VF value = hn::Add(sum[0][r][j], sum[1][r][j]);
        float* const to = output_ + (first + r) * shape_.Dv + at;
        if (at + kWidth <= shape_.Dv) {
          hn::StoreU(value, d, to);
        } else if (at < shape_.Dv) {
          StoreFirst(value, d, to, static_cast<std::size_t>(shape_.Dv - at));
        }
      }
    }
  }

  template <int R, int N>
  HWY_INLINE void add(const float* values, const float* weights, VF (&sum)[R][N]) const {
    const F32 d;
    VF value[N];
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) value[j] = hn::LoadU(d, values + j * kWidth);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const VF weight = hn::Set(d, weights[r * stride_]);
#pragma GCC unroll 8
      for (int j = 0; j < N; ++j) sum[r][j] = hn::MulAdd(weight, value[j], sum[r][j]);
    }
  }

  const PagedCall& call_;
  const PageShape shape_;
  PagedSequence sequence_;
  std::int64_t heads_, pages_, full_;  // pages, and full pages
  const float* q_;
  float* output_;
  float* weights_;
  std::int64_t keys_at_, values_at_;
  std::int64_t stride_;  // of the scores of a head
};

void run_heads(const PagedCall& call, std::int64_t row, std::int64_t g) {
  PagedHeads(call, row, g).run();
}

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(run_heads);

void attention_paged(const PagedCall& call) {
  const auto run = &HEED_DISPATCH(run_heads);
  const PageShape& shape = call.shape;
  std::int64_t positions = 0;
  for (std::int64_t row = 0; row < call.rows; ++row) positions += call.sequences[row].length;
  const std::int64_t of_position = call.H * (shape.D + shape.Dv);
  add_flops(2 * positions * of_position);
  if (call.rows == 0) return;
  const std::int64_t cost = positions / call.rows * of_position / shape.G + 1;
  parallel_for(call.rows * shape.G, cost,
               [&](std::int64_t i) { run(call, i / shape.G, i % shape.G); });
}

namespace {

float* keys_of(const PageShape& shape, std::int64_t g, float* page) {
  return page + g * shape.key_floats();
}
float* values_of(const PageShape& shape, std::int64_t g, float* page) {
  return page + shape.G * shape.key_floats() + g * shape.value_floats();
}

// [16, D] -> [D, 16] in place.
void transpose_keys(std::int64_t D, float* keys) {
  const Scratch<float> rows(kPagePositions * D);
  std::copy_n(keys, kPagePositions * D, rows.data());
  for (std::int64_t i = 0; i < D; ++i) {
    for (std::int64_t slot = 0; slot < kPagePositions; ++slot) *keys++ = rows[slot * D + i];
  }
}

}  // namespace

void write_position(const PageShape& shape, std::int64_t slot, const float* k,
                    std::int64_t k_stride, const float* v, std::int64_t v_stride, float* page) {
  for (std::int64_t g = 0; g < shape.G; ++g) {
    float* const keys = keys_of(shape, g, page);
    std::copy_n(k + g * k_stride, shape.D, keys + slot * shape.D);
    if (slot == kPagePositions - 1) transpose_keys(shape.D, keys);
    float* const values = values_of(shape, g, page) + slot * shape.padded_values();
    std::copy_n(v + g * v_stride, shape.Dv, values);
    std::fill_n(values + shape.Dv, shape.padded_values() - shape.Dv, 0.0f);
  }
}

void copy_positions(const PageShape& shape, std::int64_t count, const float* from, float* to) {
  HEED_ASSERT(count < kPagePositions);
  for (std::int64_t g = 0; g < shape.G; ++g) {
    const std::int64_t keys = keys_of(shape, g, to) - to, values = values_of(shape, g, to) - to;
    std::copy_n(from + keys, count * shape.D, to + keys);
    std::copy_n(from + values, count * shape.padded_values(), to + values);
  }
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
