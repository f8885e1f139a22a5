#include "heed/kernels/attention/backward.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "heed/base/arena.h"
#include "heed/base/threads.h"
#include "heed/kernels/attention/backward_cell.h"
#include "heed/kernels/attention/forward.h"

namespace heed::kernels {
namespace {

std::int64_t total_rows(std::int64_t B, std::int64_t rows, const std::int64_t* starts) {
  return starts == nullptr ? B * rows : starts[B];
}

/// Scratch memory filled with zeros; empty for size 0.
class Zeros {
 public:
  explicit Zeros(std::int64_t count) {
    if (count == 0) return;
    memory_.emplace(count);
    std::fill_n(memory_->data(), count, 0.0f);
  }
  float* data() const { return memory_ ? memory_->data() : nullptr; }

 private:
  std::optional<Scratch<float>> memory_;
};

/// to = sum over the query heads of a group.
void sum_heads(const Heads<float>& from, const Heads<float>& to, const AttentionShape& shape,
               std::int64_t width) {
  const std::int64_t group = shape.group();
  parallel_for(shape.B * shape.G, shape.Tk * width * group, [&](std::int64_t i) {
    const std::int64_t b = i / shape.G, g = i % shape.G;
    for (std::int64_t r = 0; r < shape.keys(b); ++r) {
      const float* const x = from.at(b, g * group, r);
      float* const y = to.at(b, g, r);
      for (std::int64_t e = 0; e < width; ++e) {
        float sum = x[e];
        for (std::int64_t h = 1; h < group; ++h) sum += x[h * from.head + e];
        y[e] = sum;
      }
    }
  });
}

/// dq = sum over the parts of a head that have a dq, one block of queries at a time.
void sum_parts(const BackwardPass& pass, const Heads<float>& dq, std::int64_t block_rows) {
  const AttentionShape& s = pass.program.shape;
  const std::int64_t parts = pass.grid.parts();
  const std::int64_t blocks = (s.Tq + block_rows - 1) / block_rows;
  parallel_for(s.B * s.H * blocks, block_rows * s.D * parts, [&](std::int64_t cell) {
    const std::int64_t head = cell / blocks, block = cell % blocks;
    const std::int64_t b = head / s.H, h = head % s.H;
    const std::int64_t end = std::min(s.queries(b), (block + 1) * block_rows);
    for (std::int64_t r = block * block_rows; r < end; ++r) {
      float* const y = dq.at(b, h, r);
      std::fill_n(y, s.D, 0.0f);
      for (std::int64_t part = 0; part < parts; ++part) {
        if (!pass.has_dq[(head * parts + part) * blocks + block]) continue;
        const float* const x = pass.dq.at(b, h, r) + part * pass.dq_part;
        for (std::int64_t e = 0; e < s.D; ++e) y[e] += x[e];
      }
    }
  });
}

bool any_in_turn(std::span<TileStage<float>* const> stages) {
  return std::any_of(stages.begin(), stages.end(), [](const auto* s) { return s->in_turn(); });
}

void finish_stages(const StageList<float>& list, const float* sums, const AttentionShape& shape,
                   const PartGrid& grid) {
  for (std::size_t i = 0; i < list.stages.size(); ++i) {
    const std::int64_t size = list.needs[i].sums;
    list.stages[i]->finish({size == 0 ? nullptr : sums, size, shape.B, shape.H, grid.parts()});
    sums += size * grid.cells();
  }
}

/// The scales of rows. If they were not given and the log-sum-exp is too large to stand for them,
/// as its rounding error is then that of the weights, another forward pass computes them.
class RowScales {
 public:
  RowScales(const AttentionProgram<float>& program, const AttentionBackward<float>& call)
      : given_(call.scales) {
    const AttentionShape& s = program.shape;
    if (given_.data != nullptr || program.normaliser != Normalise::softmax) return;
    if (!any_huge(s, call.log_sum_exp)) return;
    const std::int64_t rows = total_rows(s.B, s.Tq, s.q_starts);
    scales_.emplace(s.H * rows);
    output_.emplace(s.H * rows * s.Dv);
    const Heads<RowScale<float>> to{scales_->data(), s.Tq, rows, 1, s.q_starts};
    AttentionForward<float> forward;
    forward.q = call.q;
    forward.k = call.k;
    forward.v = call.v;
    forward.output = {output_->data(), s.Tq * s.Dv, rows * s.Dv, s.Dv, s.q_starts};
    forward.scales = to;
    attention_forward(program, forward);
    given_ = {to.data, to.batch, to.head, to.row, to.starts};
  }
  Heads<const RowScale<float>> heads() const { return given_; }

 private:
  static bool any_huge(const AttentionShape& s, const Heads<const float>& log_sum_exp) {
    constexpr float kHuge = 0x1p10f;  // here the rounding error of weights is 3e-5
    for (std::int64_t b = 0; b < s.B; ++b) {
      for (std::int64_t h = 0; h < s.H; ++h) {
        const float* const x = log_sum_exp.at(b, h);
        const auto huge = [](float log) { return std::isfinite(log) && std::abs(log) > kHuge; };
        if (std::any_of(x, x + s.queries(b), huge)) return true;
      }
    }
    return false;
  }

  Heads<const RowScale<float>> given_;
  std::optional<Scratch<RowScale<float>>> scales_;
  std::optional<Scratch<float>> output_;
};

void run_cells(const BackwardPass& pass) {
  const AttentionShape& s = pass.program.shape;
  const std::int64_t cost = s.Tq * pass.grid.part_keys() * 5 * (s.D + s.Dv);
  parallel_for(pass.grid.cells(), cost, [&](std::int64_t cell) {
    try {
      backward_cell(pass, cell);
    } catch (...) {
      if (pass.turns != nullptr) pass.turns->abandon();
      throw;
    }
  });
}

}  // namespace

void attention_backward(const AttentionProgram<float>& program,
                        const AttentionBackward<float>& given) {
  const AttentionShape& s = program.shape;
  AttentionBackward<float> call = given;
  const RowScales scales(program, call);
  call.scales = scales.heads();
  const PartGrid grid(s);
  const std::int64_t block_rows = backward_block_rows();
  const StageList<float> modifiers(program.modifiers, block_rows, true);
  const StageList<float> reweights(program.reweights, block_rows, true);
  const std::int64_t q_rows = total_rows(s.B, s.Tq, s.q_starts);
  const std::int64_t k_rows = total_rows(s.B, s.Tk, s.k_starts);
  const bool split = grid.parts() > 1, grouped = s.group() > 1;
  const HeadsScratch dq(split ? s.H * grid.parts() : 0, q_rows, s.D);
  const HeadsScratch dk(grouped ? s.H : 0, k_rows, s.D), dv(grouped ? s.H : 0, k_rows, s.Dv);
  const Zeros modifier_sums(modifiers.sums() * grid.cells());
  const Zeros reweight_sums(reweights.sums() * grid.cells());
  const Zeros additive_sums(program.additive == nullptr ? 0 : s.D * grid.cells());
  const Zeros sink_sums(call.d_sinks == nullptr ? 0 : grid.cells());

  const std::int64_t blocks = (s.Tq + block_rows - 1) / block_rows;
  const Scratch<std::uint8_t> has_dq(split ? grid.cells() * blocks : 0);

  BackwardPass pass{program, call, grid, modifiers, reweights};
  pass.dq = call.dq;
  pass.dk = call.dk;
  pass.dv = call.dv;
  if (split) {
    pass.has_dq = has_dq.data();
    pass.dq = dq.heads(s.Tq, s.q_starts);
    pass.dq_part = s.H * q_rows * s.D;
  }
  if (grouped) {
    pass.dk = dk.heads(s.Tk, s.k_starts);
    pass.dv = dv.heads(s.Tk, s.k_starts);
  }
  pass.modifier_sums = modifier_sums.data();
  pass.reweight_sums = reweight_sums.data();
  pass.sink_sums = sink_sums.data();
  pass.additive_sums = additive_sums.data();
  std::optional<Turns> turns;
  if (any_in_turn(program.modifiers) || any_in_turn(program.reweights)) {
    turns.emplace(grid.parts() * (grid.part_keys() / grid.span_keys()) * blocks);
    pass.turns = &*turns;
  }
  run_cells(pass);

  if (split) sum_parts(pass, call.dq, block_rows);
  if (grouped) {
    sum_heads(pass.dk, call.dk, s, s.D);
    sum_heads(pass.dv, call.dv, s, s.Dv);
  }
  finish_stages(modifiers, modifier_sums.data(), s, grid);
  finish_stages(reweights, reweight_sums.data(), s, grid);
  for (std::int64_t cell = 0; cell < grid.cells(); ++cell) {
    const std::int64_t head = grid.at(cell).head;
    if (call.d_sinks != nullptr) call.d_sinks[head] += pass.sink_sums[cell];
    for (std::int64_t i = 0; call.d_additive != nullptr && i < s.D; ++i) {
      call.d_additive[head * program.additive_head + i] += pass.additive_sums[cell * s.D + i];
    }
  }
}

}  // namespace heed::kernels
