// Random specs of attention: fused against the plain twin.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "heed/attention/attention.h"
#include "heed/autograd/tape.h"
#include "heed/base/threads.h"
#include "heed/ops/choose.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/index.h"
#include "heed/ops/matmul.h"
#include "heed/ops/reduce.h"
#include "heed/ops/softmax.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "torture/cases.h"
#include "torture/compare.h"
#include "torture/drawn_mask.h"

namespace heed::torture {
namespace {

using test::CaseSizes;
using test::StageCase;

enum class Weights { softmax, sink, sigmoid, none, top_k };
constexpr const char* kWeightNames[] = {"softmax", "softmax_with_sink", "sigmoid", "none", "top_k"};

struct Trial {
  CaseSizes s;
  DType dtype = DType::f32;
  bool rows_first = false;  // q, k and v are stored [B, T, H, D]
  double scale = 1.0;
  std::vector<StageCase> stages;
  std::vector<Tensor> operands;  // q, k, v, then the parameters of the stages, then sinks; f32
  DrawnMask mask;
  Tensor visible;  // undefined: everything
  Weights weights = Weights::softmax;
  std::int64_t top_k = 0;
  Tensor d_output;
  Tensor clear;  // 1 for rows that are compared, 0 for others: [B, H, Tq, 1]; undefined: all
  std::string text;
};

CaseSizes draw_sizes(Draws& draws) {
  CaseSizes s;
  s.G = draws.between(1, 3);
  s.H = s.G * draws.between(1, 3);
  s.B = draws.between(1, 3);
  s.Tq = draws.chance(0.3) ? draws.between(1, 8) : draws.length(150);
  s.Tk = draws.length(200);
  s.D = draws.length(80);
  s.Dv = draws.length(80);
  return s;
}

// The scores that stage_cases does not have.
StageCase draw_score(Draws& draws, const CaseSizes& s, Trial& trial) {
  switch (draws.below(5)) {
    case 0:
      trial.scale = 1.0;
      return {"dot", {}, [](AttentionSpec& spec, test::Tensors) { spec.score = dot_score(); }, {}};
    case 1: {
      const bool shared = draws.chance(0.5);
      return {"general",
              {shared ? Shape{s.D, s.D} : Shape{s.H, s.D, s.D}},
              [](AttentionSpec& spec, test::Tensors p) { spec.score = general_score(p[0] * 0.05); },
              {.score = [](const Tensor& q, const Tensor& k, test::Tensors p) {
                return matmul(matmul(q, p[0] * 0.05), transpose(k));
              }}};
    }
    case 2:
      return {"cosine",
              {},
              [](AttentionSpec& spec, test::Tensors) { spec.score = cosine_score(4.0); },
              {.score = [](const Tensor& q, const Tensor& k, test::Tensors) {
                const auto unit = [](const Tensor& x) {
                  return x / sqrt(sum(square(x), {-1}, {.keep_axes = true}));
                };
                return matmul(unit(q), transpose(unit(k))) * 4.0;
              }}};
    default: {
      const double scale = trial.scale = draws.real(0.05, 0.5);
      return {"scaled_dot",
              {},
              [scale](AttentionSpec& spec, test::Tensors) { spec.score = scaled_dot_score(scale); },
              {}};
    }
  }
}

bool has_stage(const Trial& trial, std::string_view name) {
  return std::any_of(trial.stages.begin(), trial.stages.end(),
                     [&](const StageCase& stage) { return stage.name.starts_with(name); });
}

bool is_relative_keys(const StageCase& stage) {
  return stage.name.starts_with("shaw_keys") || stage.name.starts_with("circular_keys");
}

// Whether a stage may be added. A spec has one score; relative keys are defined for dot products;
// top_k is drawn by draw_top_k; the observers name head 1 and row 2.
bool fits(const Trial& trial, const StageCase& stage, bool scored) {
  if (stage.plain.seen || has_stage(trial, stage.name)) return false;
  if (stage.plain.score) return !scored && std::ranges::none_of(trial.stages, is_relative_keys);
  if (is_relative_keys(stage)) return !scored || !trial.stages[0].plain.score;
  if (stage.name == "observers") {
    return trial.weights == Weights::softmax && trial.s.H > 1 && trial.s.Tq > 2;
  }
  return true;
}

void draw_stages(Draws& draws, Trial& trial) {
  trial.scale = 1.0 / std::sqrt(static_cast<double>(trial.s.D));
  const std::vector<StageCase> all = test::stage_cases(trial.s);
  bool scored = draws.chance(0.3);
  if (scored) trial.stages.push_back(draw_score(draws, trial.s, trial));
  for (std::int64_t n = draws.below(4); n > 0; --n) {
    const StageCase& stage = draws.pick(all);
    if (!fits(trial, stage, scored)) continue;
    if (stage.plain.score) {
      scored = true;
      trial.stages.insert(trial.stages.begin(), stage);
    } else {
      trial.stages.push_back(stage);
    }
  }
}

void draw_top_k(Draws& draws, Trial& trial) {
  trial.weights = Weights::top_k;
  trial.top_k = draws.between(1, trial.s.Tk + 2);
  trial.scale = 1.0 / std::sqrt(static_cast<double>(trial.s.D));
}

void draw_operands(Draws& draws, Trial& trial) {
  const auto add = [&](const Shape& shape) {
    const Tensor x = uniform(shape, -2.0, 2.0, draws.generator());
    trial.operands.push_back(
        trial.operands.size() < 3 ? cast_data(cast_data(x, trial.dtype), DType::f32) : x);
  };
  for (const Shape& shape : test::operand_shapes(trial.s)) add(shape);
  for (const StageCase& stage : trial.stages) {
    for (const Shape& shape : stage.parameters) add(shape);
  }
  if (trial.weights == Weights::sink) add({trial.s.H});
  const Tensor dy = normal({trial.s.B, trial.s.H, trial.s.Tq, trial.s.Dv}, 0, 1, draws.generator());
  trial.d_output = cast_data(cast_data(dy, trial.dtype), DType::f32);
}

// Rows whose choice of the k best keys no rounding can change.
Tensor clear_rows(const Trial& trial) {
  const CaseSizes& s = trial.s;
  const auto in_double = [](const Tensor& x) { return cast_data(x, DType::f64); };
  Tensor heads = empty({s.H}, DType::i64);
  for (std::int64_t h = 0; h < s.H; ++h) {
    heads.mutable_data<std::int64_t>()[h] = h / (s.H / s.G);
  }
  const Tensor keys = index_select(in_double(trial.operands[1]), 1, heads);
  const Tensor scores = matmul(in_double(trial.operands[0]) * trial.scale, transpose(keys));
  const std::vector<double> all = scores.to_vector<double>();
  Tensor clear = empty({s.B, s.H, s.Tq, 1});
  for (std::int64_t row = 0; row < clear.numel(); ++row) {
    std::vector<double> seen;
    for (std::int64_t n = row * s.Tk; n < (row + 1) * s.Tk; ++n) {
      if (!trial.visible.defined() || trial.visible.data<bool>()[n]) {
        seen.push_back(all[static_cast<std::size_t>(n)]);
      }
    }
    std::ranges::sort(seen, std::greater());
    const auto k = static_cast<std::size_t>(trial.top_k);
    const bool is_clear = seen.size() <= k || seen[k - 1] - seen[k] > 1e-4;
    clear.mutable_data<float>()[row] = is_clear ? 1.0f : 0.0f;
  }
  return clear;
}

Trial draw_trial(Draws& draws) {
  Trial trial;
  trial.s = draw_sizes(draws);
  trial.dtype = draws.chance(0.2) ? DType::bf16 : DType::f32;
  trial.rows_first = draws.chance(0.4);
  if (draws.chance(0.3)) {
    trial.weights = draws.pick(std::vector{Weights::sink, Weights::sigmoid, Weights::none});
  }
  if (draws.chance(0.15)) {
    draw_top_k(draws, trial);
  } else {
    draw_stages(draws, trial);
  }
  if (draws.chance(0.7)) {
    trial.mask = draw_mask(draws, trial.s);
    trial.visible = visible_of(trial.mask, trial.s);
  }
  draw_operands(draws, trial);
  if (trial.weights == Weights::top_k) {
    trial.clear = clear_rows(trial);
    trial.d_output = trial.d_output * trial.clear;
  }
  const CaseSizes& s = trial.s;
  trial.text = fmt::format("{} B{} H{} G{} Tq{} Tk{} D{} Dv{}{}", name_of(trial.dtype), s.B, s.H,
                           s.G, s.Tq, s.Tk, s.D, s.Dv, trial.rows_first ? " rows first" : "");
  for (const StageCase& stage : trial.stages) trial.text += ", " + stage.name;
  if (trial.visible.defined()) trial.text += ", mask " + trial.mask.text;
  trial.text += fmt::format(", {}", kWeightNames[static_cast<int>(trial.weights)]);
  if (trial.top_k > 0) trial.text += fmt::format(" {}", trial.top_k);
  return trial;
}

// Leaves of a call: q, k and v in the dtype of the call, the rest in f32 or f64.
std::vector<Tensor> leaves_of(const Trial& trial, DType dtype) {
  std::vector<Tensor> leaves;
  for (std::size_t i = 0; i < trial.operands.size(); ++i) {
    const DType own = i >= 3 && dtype == DType::bf16 ? DType::f32 : dtype;
    Tensor x = cast_data(trial.operands[i], own);
    if (i < 3 && trial.rows_first) {
      x = view::transpose(clone_data(view::transpose(x, 1, 2)), 1, 2);
    } else {
      x = clone_data(x);
    }
    leaves.push_back(dtype == DType::bf16 ? x : x.requires_grad());  // bf16 has no gradients
  }
  return leaves;
}

// Calls f with each stage and its parameters among the leaves.
void each_stage(const Trial& trial, const std::vector<Tensor>& leaves,
                const std::function<void(const StageCase&, test::Tensors)>& f) {
  std::size_t next = 3;
  for (const StageCase& stage : trial.stages) {
    f(stage, test::Tensors(leaves).subspan(next, stage.parameters.size()));
    next += stage.parameters.size();
  }
}

Tensor fused(const Trial& trial, const std::vector<Tensor>& leaves) {
  AttentionSpec spec;
  each_stage(trial, leaves, [&](const StageCase& stage, test::Tensors p) { stage.use(spec, p); });
  if (trial.visible.defined()) spec.mask = trial.mask.mask;
  switch (trial.weights) {
    case Weights::softmax:
      break;
    case Weights::sink:
      spec.normaliser = softmax_with_sink(leaves.back());
      break;
    case Weights::sigmoid:
      spec.normaliser = sigmoid_weights();
      break;
    case Weights::none:
      spec.normaliser = no_normaliser();
      break;
    case Weights::top_k:
      spec.normaliser = top_k_weights(trial.top_k);
      break;
  }
  return attention(leaves[0], leaves[1], leaves[2], spec);
}

// True for the n best keys of each row; of equal ones the earlier.
Tensor best_of(const Tensor& scores, std::int64_t n) {
  const std::vector<double> x = scores.detach().to_vector<double>();
  const auto keys = static_cast<std::size_t>(scores.size(-1));
  Tensor best = empty(scores.shape(), DType::boolean);
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::int64_t better = 0;
    for (std::size_t j = i / keys * keys; j < i / keys * keys + keys; ++j) {
      better += x[j] > x[i] || (x[j] == x[i] && j < i);
    }
    best.mutable_data<bool>()[i] = better < n;
  }
  return best;
}

Tensor weights_of(const Trial& trial, Tensor scores, const Tensor& sinks) {
  constexpr double kHidden = -std::numeric_limits<double>::infinity();
  const auto hide = [&](const Tensor& x, double value) {
    return trial.visible.defined() ? where(trial.visible, x, value) : x;
  };
  switch (trial.weights) {
    case Weights::sigmoid:
      return hide(1.0 / (1.0 + exp(scores * -1.0)), 0.0);
    case Weights::none:
      return hide(scores, 0.0);
    case Weights::sink: {
      const Tensor powers = hide(exp(scores), 0.0);
      return powers /
             (sum(powers, {-1}, {.keep_axes = true}) + reshape(exp(sinks), {trial.s.H, 1, 1}));
    }
    case Weights::top_k:
      scores = hide(scores, kHidden);
      return softmax(where(best_of(scores, trial.top_k), scores, kHidden));
    case Weights::softmax:
      break;
  }
  return softmax(hide(scores, kHidden));
}

Tensor plain(const Trial& trial, const std::vector<Tensor>& leaves) {
  const CaseSizes& s = trial.s;
  Tensor heads = empty({s.H}, DType::i64);
  for (std::int64_t h = 0; h < s.H; ++h) {
    heads.mutable_data<std::int64_t>()[h] = h / (s.H / s.G);
  }
  const Tensor& q = leaves[0];
  const Tensor keys = index_select(leaves[1], 1, heads);  // [B, H, Tk, D]
  Tensor scaled = q * trial.scale;
  Tensor scores = matmul(scaled, transpose(keys));  // [B, H, Tq, Tk]
  each_stage(trial, leaves, [&](const StageCase& stage, test::Tensors p) {
    if (stage.plain.score) scores = stage.plain.score(scaled = q, keys, p);
  });
  each_stage(trial, leaves, [&](const StageCase& stage, test::Tensors p) {
    if (stage.plain.scores) scores = stage.plain.scores(scores, scaled, p);
  });
  Tensor weights = weights_of(trial, scores, leaves.back()), extra;
  each_stage(trial, leaves, [&](const StageCase& stage, test::Tensors p) {
    if (stage.plain.weights) weights = stage.plain.weights(weights, p);
    if (!stage.plain.output) return;
    const Tensor more = stage.plain.output(weights, p);
    extra = extra.defined() ? extra + more : more;
  });
  const Tensor output = matmul(weights, index_select(leaves[2], 1, heads));
  return extra.defined() ? output + extra : output;
}

// The output in the rows that are compared.
Tensor compared(const Trial& trial, const Tensor& y) {
  if (!trial.clear.defined()) return y.detach();
  return cast_data(y.detach(), DType::f64) * cast_data(trial.clear, DType::f64);
}

Outcome outcome_of(const Trial& trial, DType dtype, bool is_plain) {
  const std::vector<Tensor> leaves = leaves_of(trial, dtype);
  const Tensor y = is_plain ? plain(trial, leaves) : fused(trial, leaves);
  Outcome outcome;
  outcome.add("the output", compared(trial, y));
  if (dtype == DType::bf16) return outcome;
  backward(y, cast_data(trial.d_output, y.dtype()));
  constexpr const char* kOperands[] = {"dq", "dk", "dv"};
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const Tensor gradient = leaves[i].grad();
    outcome.add(i < 3 ? kOperands[i] : fmt::format("the gradient of parameter {}", i - 3),
                gradient.defined() ? gradient : zeros(leaves[i].shape(), leaves[i].dtype()));
  }
  return outcome;
}

Outcome forward_only(const Trial& trial, DType dtype) {
  const NoGrad off;
  Outcome outcome;
  outcome.add("the output without gradient",
              compared(trial, fused(trial, leaves_of(trial, dtype))));
  return outcome;
}

}  // namespace

std::string attention_case(Draws& draws) {
  const Trial trial = draw_trial(draws);
  const Outcome twin = outcome_of(trial, DType::f64, true);
  require_close(outcome_of(trial, DType::f64, false), twin, {1e-10, 1e-9}, trial.text + ", f64");
  const Tolerance tolerance =
      trial.dtype == DType::bf16 ? Tolerance{0.01, 0.02} : Tolerance{2e-5, 2e-4};
  const int threads = num_threads();
  with_isas([&](Isa isa) {
    const std::string what = fmt::format("{}, {}", trial.text, name_of(isa));
    set_num_threads(1);
    const Outcome one = outcome_of(trial, trial.dtype, false);
    set_num_threads(3);
    const Outcome three = outcome_of(trial, trial.dtype, false);
    set_num_threads(threads);
    require_close(one, twin, tolerance, what);
    require_same_bits(one, three, what + ", 1 and 3 threads");
    Outcome output;
    output.add(twin.names[0], twin.tensors[0]);
    require_close(forward_only(trial, trial.dtype), output, tolerance, what);
  });
  return trial.text;
}

}  // namespace heed::torture
