#include "heed/kernels/attention/backward.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "heed/base/arena.h"
#include "heed/base/threads.h"
#include "heed/kernels/attention/backward_cell.h"
#include "heed/kernels/attention/forward.h"
#include "heed/kernels/reference/attention.h"

namespace heed::kernels {
namespace {

std::int64_t total_rows(std::int64_t B, std::int64_t rows, const std::int64_t* starts) {
  return starts == nullptr ? B * rows : starts[B];
}

/// Scratch memory filled with zeros; empty for size 0.
template <typename T>
class Zeros {
 public:
  explicit Zeros(std::int64_t count) {
    if (count == 0) return;
    memory_.emplace(count);
    std::fill_n(memory_->data(), count, T(0));
  }
  T* data() const { return memory_ ? memory_->data() : nullptr; }

 private:
  std::optional<Scratch<T>> memory_;
};

/// to = sum over the query heads of a group; or added to it.
template <typename T>
void sum_heads(const Heads<T>& from, const Heads<T>& to, const AttentionShape& shape,
               std::int64_t width, bool add) {
  const std::int64_t group = shape.group();
  parallel_for(shape.B * shape.G, shape.Tk * width * group, [&](std::int64_t i) {
    const std::int64_t b = i / shape.G, g = i % shape.G;
    for (std::int64_t r = 0; r < shape.keys(b); ++r) {
      const T* const x = from.at(b, g * group, r);
      T* const y = to.at(b, g, r);
      for (std::int64_t e = 0; e < width; ++e) {
        T sum = x[e];
        for (std::int64_t h = 1; h < group; ++h) sum += x[h * from.head + e];
        y[e] = add ? y[e] + sum : sum;
      }
    }
  });
}

/// dq = sum over the parts of a head that have a dq, one block of queries at a time.
template <typename T>
void sum_parts(const BackwardPass<T>& pass, const Heads<T>& dq, std::int64_t block_rows) {
  const AttentionShape& s = pass.program.shape;
  const std::int64_t parts = pass.grid.parts();
  const std::int64_t blocks = (s.Tq + block_rows - 1) / block_rows;
  parallel_for(s.B * s.H * blocks, block_rows * s.D * parts, [&](std::int64_t cell) {
    const std::int64_t head = cell / blocks, block = cell % blocks;
    const std::int64_t b = head / s.H, h = head % s.H;
    const std::int64_t end = std::min(s.queries(b), (block + 1) * block_rows);
    for (std::int64_t r = block * block_rows; r < end; ++r) {
      T* const y = dq.at(b, h, r);
      std::fill_n(y, s.D, T(0));
      for (std::int64_t part = 0; part < parts; ++part) {
        if (!pass.has_dq[(head * parts + part) * blocks + block]) continue;
        const T* const x = pass.dq.at(b, h, r) + part * pass.dq_part;
        for (std::int64_t e = 0; e < s.D; ++e) y[e] += x[e];
      }
    }
  });
}

template <typename T>
bool any_in_turn(std::span<TileStage<T>* const> stages) {
  return std::any_of(stages.begin(), stages.end(), [](const auto* s) { return s->in_turn(); });
}

template <typename T>
void finish_stages(const StageList<T>& list, const T* sums, const AttentionShape& shape,
                   const PartGrid& grid) {
  for (std::size_t i = 0; i < list.stages.size(); ++i) {
    const std::int64_t size = list.needs[i].sums;
    list.stages[i]->finish({size == 0 ? nullptr : sums, size, shape.B, shape.H, grid.parts()});
    sums += size * grid.cells();
  }
}

/// The scales of rows. If they were not given and the log-sum-exp is too large to stand for them,
/// as its rounding error is then that of the weights, another forward pass computes them; as it
/// does for entmax.
template <typename T>
class RowScales {
 public:
  RowScales(const AttentionProgram<T>& program, const AttentionBackward<T>& call)
      : given_(call.scales) {
    const AttentionShape& s = program.shape;
    if (given_.data != nullptr) return;
    const bool softmax = program.normaliser == Normalise::softmax;
    if (!softmax && program.normaliser != Normalise::entmax) return;
    if (softmax && !any_huge(s, call.log_sum_exp)) return;
    const std::int64_t rows = total_rows(s.B, s.Tq, s.q_starts);
    scales_.emplace(s.H * rows);
    output_.emplace(s.H * rows * s.Dv);
    const Heads<RowScale<T>> to{scales_->data(), s.Tq, rows, 1, s.q_starts};
    AttentionForward<T> forward;
    forward.q = call.q;
    forward.k = call.k;
    forward.v = call.v;
    forward.output = {output_->data(), s.Tq * s.Dv, rows * s.Dv, s.Dv, s.q_starts};
    forward.scales = to;
    attention_forward(program, forward);
    given_ = {to.data, to.batch, to.head, to.row, to.starts};
  }
  Heads<const RowScale<T>> heads() const { return given_; }

 private:
  static bool any_huge(const AttentionShape& s, const Heads<const T>& log_sum_exp) {
    constexpr T kHuge = 0x1p10f;  // here the rounding error of weights is 3e-5 in f32
    for (std::int64_t b = 0; b < s.B; ++b) {
      for (std::int64_t h = 0; h < s.H; ++h) {
        const T* const x = log_sum_exp.at(b, h);
        const auto huge = [](T log) { return std::isfinite(log) && std::abs(log) > kHuge; };
        if (std::any_of(x, x + s.queries(b), huge)) return true;
      }
    }
    return false;
  }

  Heads<const RowScale<T>> given_;
  std::optional<Scratch<RowScale<T>>> scales_;
  std::optional<Scratch<T>> output_;
};

template <typename T>
void run_cells(const BackwardPass<T>& pass) {
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

template <typename T>
void run_backward(const AttentionProgram<T>& program, const AttentionBackward<T>& given,
                  AddGradients add) {
  const AttentionShape& s = program.shape;
  AttentionBackward<T> call = given;
  const RowScales<T> scales(program, call);
  call.scales = scales.heads();
  const PartGrid grid(s, sizeof(T));
  const std::int64_t block_rows = backward_block_rows<T>();
  const StageList<T> modifiers(program.modifiers, block_rows, true);
  const StageList<T> reweights(program.reweights, block_rows, true);
  const std::int64_t q_rows = total_rows(s.B, s.Tq, s.q_starts);
  const std::int64_t k_rows = total_rows(s.B, s.Tk, s.k_starts);
  const bool split = grid.parts() > 1, grouped = s.group() > 1;
  const HeadsScratch<T> dq(split ? s.H * grid.parts() : 0, q_rows, s.D);
  const HeadsScratch<T> dk(grouped ? s.H : 0, k_rows, s.D), dv(grouped ? s.H : 0, k_rows, s.Dv);
  const Zeros<T> modifier_sums(modifiers.sums() * grid.cells());
  const Zeros<T> reweight_sums(reweights.sums() * grid.cells());
  const Zeros<T> additive_sums(program.additive == nullptr ? 0 : s.D * grid.cells());
  const Zeros<T> sink_sums(call.d_sinks == nullptr ? 0 : grid.cells());

  const std::int64_t blocks = (s.Tq + block_rows - 1) / block_rows;
  const Scratch<std::uint8_t> has_dq(split ? grid.cells() * blocks : 0);

  BackwardPass<T> pass{program, call, grid, modifiers, reweights};
  pass.dq = call.dq;
  pass.dk = call.dk;
  pass.dv = call.dv;
  if (split) {
    pass.has_dq = has_dq.data();
    pass.dq = dq.heads(s.Tq, s.q_starts);
    pass.dq_part = s.H * q_rows * s.D;
  }
  if (!grouped) pass.add = add;
  if (grouped) {
    pass.dk = dk.heads(s.Tk, s.k_starts);
    pass.dv = dv.heads(s.Tk, s.k_starts);
  }
  pass.modifier_sums = modifier_sums.data();
  pass.reweight_sums = reweight_sums.data();
  pass.sink_sums = sink_sums.data();
  pass.additive_sums = additive_sums.data();
  std::optional<Turns> turns;
  if (any_in_turn<T>(program.modifiers) || any_in_turn<T>(program.reweights)) {
    turns.emplace(grid.parts() * (grid.part_keys() / grid.span_keys()) * blocks);
    pass.turns = &*turns;
  }
  run_cells(pass);

  if (split) sum_parts(pass, call.dq, block_rows);
  if (grouped) {
    sum_heads(pass.dk, call.dk, s, s.D, add.dk);
    sum_heads(pass.dv, call.dv, s, s.Dv, add.dv);
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

}  // namespace

void attention_backward(const AttentionProgram<float>& program,
                        const AttentionBackward<float>& call, AddGradients add) {
  run_backward(program, call, add);
}
void attention_backward(const AttentionProgram<double>& program,
                        const AttentionBackward<double>& call, AddGradients add) {
  if (reference::PlainAttention::wanted()) return reference::attention_backward(program, call, add);
  run_backward(program, call, add);
}

}  // namespace heed::kernels
