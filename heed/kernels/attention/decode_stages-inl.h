// Stages in attention_decode, where scores are stored row by row: a few keys at a time are
// transposed into the tile that a stage expects, and back. Each of the heads that share keys runs
// its own stages. If all stages only copy weights out, they are given the rows themselves: a tile
// of one query costs as much as the attention of that query to twenty keys.
#if defined(HEED_KERNELS_ATTENTION_DECODE_STAGES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ATTENTION_DECODE_STAGES_INL_H_
#undef HEED_KERNELS_ATTENTION_DECODE_STAGES_INL_H_
#else
#define HEED_KERNELS_ATTENTION_DECODE_STAGES_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "heed/base/arena.h"
#include "heed/base/arena_vector.h"
#include "heed/kernels/attention/decode_grid.h"
#include "heed/kernels/attention/plan.h"
#include "heed/kernels/attention/program.h"
#include "heed/kernels/attention/stages.h"
#include "heed/kernels/attention/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

class DecodeStages {
 public:
  DecodeStages(const AttentionProgram<float>& program, const DecodeCell& at)
      : program_(program),
        at_(at),
        stride_((at.queries + kLanes - 1) / kLanes * kLanes),
        modifier_list_(program.modifiers, stride_, false),
        reweight_list_(program.reweights, stride_, false),
        uses_tiles_(!program.modifiers.empty() || !all_copy_rows(program)),
        memory_(uses_tiles_ ? (1 + kMaxTileKeys) * stride_ + program.shape.group() * head_size()
                            : 0) {
    if (!uses_tiles_) return;
    for (std::int64_t h = 0; h < program.shape.group(); ++h) {
      float* const space = output(h) + program.shape.Dv * stride_;
      modifiers_.emplace_back(modifier_list_, 0, space);
      reweights_.emplace_back(reweight_list_, 0, space + modifier_list_.space(0));
    }
  }

  /// Scores will be given divided by `score_unit`.
  void begin(const Heads<const float>& q, float score_unit) {
    if (!uses_tiles_) return;
    score_unit_ = score_unit;
    for (std::int64_t h = 0; h < program_.shape.group(); ++h) {
      pack_transposed({q.at(at_.batch, head(h), at_.row), q.row}, at_.queries, program_.shape.D,
                      {queries(h), stride_}, program_.scale);
      std::fill_n(output(h), program_.shape.Dv * stride_, 0.0f);
      modifiers_[index(h)].begin(row_block(h));
      reweights_[index(h)].begin(row_block(h));
    }
  }
  /// Runs the stages for keys [col, col + cols).
  void modify(RowsOf<float> scores, std::int64_t col, std::int64_t cols) const {
    if (!program_.modifiers.empty()) run(modifiers_, scores, col, cols);
  }
  void reweight(RowsOf<float> weights, std::int64_t col, std::int64_t cols) {
    if (program_.reweights.empty()) return;
    if (uses_tiles_) return run(reweights_, weights, col, cols);
    for_each_row([&](std::int64_t r, RowPart part) {
      part.col = col;
      part.cols = cols;
      for (const auto* stage : program_.reweights) stage->copy_row(part, weights.row(r));
    });
    if (copied_.cols == 0) copied_.col = col;
    copied_.cols = col + cols - copied_.col;
  }
  /// Multiplies all weights so far by factors[row].
  void rescale(const float* factors) const {
    if (program_.reweights.empty()) return;
    if (!uses_tiles_) {
      for_each_row([&](std::int64_t r, RowPart part) {
        part.col = copied_.col;
        part.cols = copied_.cols;
        if (factors[r] == 1.0f) return;
        for (const auto* stage : program_.reweights) stage->close_part(part, factors[r]);
      });
      return;
    }
    for (std::int64_t h = 0; h < program_.shape.group(); ++h) {
      std::fill_n(line(), stride_, 1.0f);
      std::copy_n(factors + h * at_.queries, at_.queries, line());
      for (std::int64_t i = 0; i < program_.shape.Dv * stride_; ++i) {
        output(h)[i] *= line()[i % stride_];
      }
      reweights_[index(h)].rescale(line());
    }
  }
  /// Adds the contributions of stages to the output, which has rows of Dv.
  void end(float* rows) const {
    if (!uses_tiles_) return;
    const std::int64_t Dv = program_.shape.Dv;
    for (std::int64_t h = 0; h < program_.shape.group(); ++h) {
      float* const own = rows + h * at_.queries * Dv;
      for (std::int64_t r = 0; r < at_.queries; ++r) {
        for (std::int64_t f = 0; f < Dv; ++f) output(h)[f * stride_ + r] += own[r * Dv + f];
      }
      modifiers_[index(h)].end(row_block(h));
      reweights_[index(h)].end(row_block(h));
      std::fill_n(line(), stride_, 1.0f);
      unpack_transposed({output(h), stride_}, at_.queries, Dv, line(), {own, Dv});
    }
  }

 private:
  static bool all_copy_rows(const AttentionProgram<float>& program) {
    return std::ranges::all_of(program.reweights,
                               [](const auto* stage) { return stage->copies_rows(); });
  }

  // f(r, part) for the rows of all heads; the keys of `part` are empty.
  template <typename F>
  void for_each_row(F&& f) const {
    for (std::int64_t h = 0; h < program_.shape.group(); ++h) {
      for (std::int64_t r = 0; r < at_.queries; ++r) {
        f(h * at_.queries + r, RowPart{.batch = at_.batch, .head = head(h), .row = at_.row + r});
      }
    }
  }

  void run(const ArenaVector<StageRun<float>>& stages, RowsOf<float> scores, std::int64_t col,
           std::int64_t cols) const {
    std::fill_n(line(), stride_, 1.0f);
    for (std::int64_t c = 0; c < cols; c += kMaxTileKeys) {
      const std::int64_t n = std::min(kMaxTileKeys, cols - c);
      for (std::int64_t h = 0; h < program_.shape.group(); ++h) {
        float* const own = scores.row(h * at_.queries) + c;
        pack_transposed({own, scores.stride}, at_.queries, n, {tile(), stride_}, 1.0f);
        stages[index(h)].forward(
            {tile(), stride_, at_.batch, head(h), at_.row, col + c, at_.queries, n}, 0);
        unpack_transposed({tile(), stride_}, at_.queries, n, line(), {own, scores.stride});
      }
    }
  }

  RowBlock<float> row_block(std::int64_t h) const {
    RowBlock<float> block;
    block.batch = at_.batch;
    block.head = head(h);
    block.row = at_.row;
    block.rows = at_.queries;
    block.stride = stride_;
    block.features = program_.shape.D;
    block.value_features = program_.shape.Dv;
    block.queries = queries(h);
    block.score_unit = score_unit_;
    block.output = output(h);
    return block;
  }

  static std::size_t index(std::int64_t h) { return static_cast<std::size_t>(h); }
  std::int64_t head(std::int64_t h) const { return at_.kv_head * program_.shape.group() + h; }
  std::int64_t head_size() const {
    return (program_.shape.D + program_.shape.Dv) * stride_ +
           StageList<float>::round_up(modifier_list_.space(0) + reweight_list_.space(0));
  }
  float* line() const { return memory_.data(); }  // one number for each query
  float* tile() const { return line() + stride_; }
  float* queries(std::int64_t h) const { return tile() + kMaxTileKeys * stride_ + h * head_size(); }
  float* output(std::int64_t h) const { return queries(h) + program_.shape.D * stride_; }

  const AttentionProgram<float>& program_;
  const DecodeCell& at_;
  std::int64_t stride_;
  float score_unit_ = 1.0f;
  StageList<float> modifier_list_, reweight_list_;
  bool uses_tiles_;
  RowPart copied_ = {};  // the keys whose weights have been copied out row by row
  Scratch<float> memory_;
  ArenaVector<StageRun<float>> modifiers_, reweights_;
};

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
