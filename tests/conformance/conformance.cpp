#include "tests/conformance/conformance.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/autograd/gradcheck.h"
#include "heed/autograd/tape.h"
#include "heed/base/threads.h"
#include "heed/kernels/reference/attention.h"
#include "heed/nn/checkpoint_file.h"
#include "heed/ops/index.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/conformance/subject.h"
#include "tests/support/op_case.h"
#include "tests/support/sanitized.h"
#include "tests/support/temp_dir.h"

namespace heed::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

bool finite(const Tensor& x) {
  for (const double value : cast_data(x, DType::f64).to_vector<double>()) {
    if (!std::isfinite(value)) return false;
  }
  return true;
}

// x with `by` at every position of sequence b from `first` on.
Tensor spoilt(const Tensor& x, std::int64_t b, std::int64_t first, double by) {
  const Tensor result = clone_data(x);
  Tensor part = view::slice(view::select(result, 0, b), 0, first, x.size(1));
  copy_into(part, full(part.shape(), by, x.dtype()));
  return result;
}

// The result of the queries [0, end) of sequence b.
Tensor rows(const Tensor& y, std::int64_t b, std::int64_t end) {
  return clone_data(view::slice(view::select(y, 0, b), 0, 0, end));
}

}  // namespace

Failures check_precision(const Subject& subject) {
  Failures failures;
  for (const Mode& mode : modes_of(subject.traits)) {
    const auto single = subject.make(), exact = subject.make();
    exact->to(DType::f64);
    AttentionInput in = input_of(subject.traits, mode, {});
    const Tensor y = run(*single, in);
    in.x = cast_data(in.x, DType::f64);
    if (in.memory.defined()) in.memory = cast_data(in.memory, DType::f64);
    const kernels::reference::PlainAttention on_the_twin;
    const double error = max_relative_error(cast_data(y, DType::f64), run(*exact, in));
    if (!(error <= 1e-5)) {
      failures.push_back(fmt::format("{}: f32 is {} away from f64", mode.name, error));
    }
  }
  return failures;
}

namespace {

// The result is a sample, so differences say nothing; the gradient is that of a softmax, which is 0
// nowhere in general. It is needed both with samples (training) and with the most probable key.
Failures check_straight_through(const Subject& subject) {
  Failures failures;
  for (const Mode& mode : modes_of(subject.traits)) {
    for (const bool training : {true, false}) {
      const auto layer = subject.make();
      layer->train(training);
      layer->to(DType::f64);
      AttentionInput in = input_of(subject.traits, mode, {.B = 2, .Tq = 5, .Tk = 4}, DType::f64);
      std::vector<NamedTensor> leaves = layer->named_parameters();
      leaves.push_back({"x", in.x.requires_grad()});
      if (in.memory.defined()) leaves.push_back({"memory", in.memory.requires_grad()});
      const Tensor y = run(*layer, in);
      Generator generator(4);
      if (y.tracks_grad()) backward(y, normal(y.shape(), 0.0, 1.0, generator, DType::f64));
      for (const NamedTensor& leaf : leaves) {
        const Tensor gradient = leaf.tensor.grad();
        const std::string what = fmt::format("{}, {}: the gradient of {}", mode.name,
                                             training ? "training" : "evaluation", leaf.name);
        if (!gradient.defined()) {
          failures.push_back(what + " is missing");
        } else if (!finite(gradient)) {
          failures.push_back(what + " is not finite");
        } else if (max_relative_error(gradient, zeros(gradient.shape(), DType::f64)) < 1e-6) {
          failures.push_back(what + " is 0");
        }
      }
    }
  }
  return failures;
}

}  // namespace

Failures check_gradients(const Subject& subject) {
  Failures failures;
  if (subject.traits.gradient == Gradient::none) return failures;
  if (subject.traits.gradient == Gradient::straight_through) return check_straight_through(subject);
  for (const Mode& mode : modes_of(subject.traits)) {
    const auto layer = subject.make();
    layer->to(DType::f64);
    AttentionInput in = input_of(subject.traits, mode, {.B = 2, .Tq = 5, .Tk = 4}, DType::f64);
    std::vector<Tensor> leaves;
    leaves.push_back(in.x.requires_grad());
    if (in.memory.defined()) leaves.push_back(in.memory.requires_grad());
    for (const Tensor& parameter : layer->parameters()) leaves.push_back(parameter);
    const auto f = [&](std::span<const Tensor> now) {
      std::size_t next = 0;
      in.x = now[next++];
      if (in.memory.defined()) in.memory = now[next++];
      const auto put = [&](const std::string&, Tensor& parameter) { parameter = now[next++]; };
      const auto pass = [](Module&) {};
      ParameterVisitor replace(put, pass);
      replace.root(*layer);
      return run(*layer, in);
    };
    const GradCheckResult result = gradcheck(f, leaves, {.every = test::is_sanitized() ? 16 : 1});
    if (!result.ok) failures.push_back(fmt::format("{}: {}", mode.name, result.message));
  }
  return failures;
}

Failures check_hidden(const Subject& subject) {
  Failures failures;
  const Sizes sizes;
  for (const Mode& mode : modes_of(subject.traits)) {
    const auto layer = subject.make();
    const AttentionInput in = input_of(subject.traits, mode, sizes);
    const Tensor y = run(*layer, in);
    if (!finite(y)) failures.push_back(mode.name + ": the result is not finite");
    for (const double by : {1e3, kNaN}) {
      AttentionInput other = in;
      const std::int64_t b = 1;
      std::int64_t seen = subject.traits.form == Form::pool ? y.size(1) : sizes.Tq;
      if (mode.lengths) {
        const std::int64_t length = length_of(b, in.source().size(1));
        (mode.memory ? other.memory : other.x) = spoilt(in.source(), b, length, by);
        if (!mode.memory && subject.traits.form != Form::pool) seen = length;
      } else if (mode.causal) {
        seen = sizes.Tq / 2;
        other.x = spoilt(in.x, b, seen, by);
      } else {
        continue;
      }
      // Queries that attend to spoilt positions may be in one block with those that do not, and the
      // rounding is chosen for a block as a whole.
      const double error = max_relative_error(rows(run(*layer, other), b, seen), rows(y, b, seen));
      if (!(error <= 2e-6)) {
        failures.push_back(fmt::format("{}: hidden positions that are {} move the result by {}",
                                       mode.name, by, error));
      }
    }
  }
  return failures;
}

Failures check_independence(const Subject& subject) {
  Failures failures;
  for (const Mode& mode : modes_of(subject.traits)) {
    const auto layer = subject.make();
    const AttentionInput in = input_of(subject.traits, mode, {.B = 3, .Tq = 37, .Tk = 41});
    const Tensor y = run(*layer, in);
    const int threads_before = num_threads();
    for (const int threads : {1, 2, 3}) {
      set_num_threads(threads);
      if (!same_bits(y, run(*layer, in))) {
        failures.push_back(fmt::format("{}: other bits with {} threads", mode.name, threads));
      }
    }
    set_num_threads(threads_before);
    AttentionInput other = in;
    other.x = spoilt(in.x, 0, 0, kNaN);
    if (mode.memory) other.memory = spoilt(in.memory, 0, 0, kNaN);
    const Tensor beside = run(*layer, other);
    for (std::int64_t b = 1; b < in.x.size(0); ++b) {
      if (!same_bits(clone_data(view::select(y, 0, b)), clone_data(view::select(beside, 0, b)))) {
        failures.push_back(fmt::format("{}: sequence 0 shows in sequence {}", mode.name, b));
      }
    }
    // A sample depends on the place in the batch. The rounding of matrix products depends on their
    // sizes, and may decide between two keys.
    if (subject.traits.gradient != Gradient::exact) continue;
    const Tensor alone = run(*layer, sequence(in, 2));
    const double error = max_relative_error(alone, clone_data(view::slice(y, 0, 2, 3)));
    if (!(error <= 2e-6)) {
      failures.push_back(fmt::format("{}: a sequence alone is {} away", mode.name, error));
    }
  }
  return failures;
}

namespace {

// The result of decoding x in steps of one, one and then three positions.
struct Decoded {
  struct Step {
    std::int64_t first = 0, end = 0;  // positions of x
    std::vector<std::int64_t> rows;   // the row of x that each sequence is
    Tensor y, weights;                // weights are undefined if the layer gives none
  };
  std::vector<Step> steps;
};

// Among beams, before each step sequences change places, become more, or become fewer.
Decoded decode(const AttentionLayer& layer, const AttentionInput& in, bool beams, bool observed) {
  const std::vector<std::vector<std::int64_t>> orders = {
      {2, 1, 0, 1}, {0, 2, 1, 0, 2}, {4, 1}, {1, 1, 0}, {2}};
  const auto state =
      layer.start({.batch = in.x.size(0), .memory = in.memory, .lengths = in.lengths});
  Tensor weights;
  if (observed) state->weights = &weights;
  std::vector<std::int64_t> rows = {0, 1, 2};
  Decoded decoded;
  for (std::int64_t t = 0, n = 1; t < in.x.size(1); t += n) {
    const std::size_t step = decoded.steps.size();
    n = std::min<std::int64_t>(step < 2 ? 1 : 3, in.x.size(1) - t);
    if (beams) {
      std::vector<std::int64_t> now;
      for (const std::int64_t from : orders[step % orders.size()]) {
        now.push_back(rows[static_cast<std::size_t>(from)]);
      }
      state->reorder(orders[step % orders.size()]);
      rows = now;
    }
    const Tensor ids =
        from_values(std::span<const std::int64_t>(rows), {static_cast<std::int64_t>(rows.size())});
    const Tensor x = index_select(clone_data(view::slice(in.x, 1, t, t + n)), 0, ids);
    weights = {};
    const Tensor y = layer.step(x, *state);
    decoded.steps.push_back({t, t + n, rows, y, weights});
  }
  return decoded;
}

// The part of a whole call's result or weights that belongs to a step; `axis` is that of positions.
Tensor part_of(const Tensor& whole, const Decoded::Step& step, int axis) {
  const Tensor ids = from_values(std::span<const std::int64_t>(step.rows),
                                 {static_cast<std::int64_t>(step.rows.size())});
  return index_select(clone_data(view::slice(whole, axis, step.first, step.end)), 0, ids);
}

// How far steps are from the whole. Pointers and weights of a step have no columns for later
// positions; there the whole has 0.
double step_error(const Tensor& step, const Tensor& expected) {
  if (step.rank() != expected.rank() || step.size(-1) > expected.size(-1)) {
    return std::numeric_limits<double>::infinity();
  }
  const std::int64_t columns = step.size(-1);
  const Tensor later = clone_data(view::slice(expected, -1, columns, expected.size(-1)));
  return std::max(max_relative_error(step, clone_data(view::slice(expected, -1, 0, columns))),
                  max_relative_error(zeros(later.shape(), later.dtype()), later));
}

// What is wrong with the decoding of one input, in a few words each.
Failures decoding_failures(const AttentionLayer& layer, const AttentionInput& in, bool beams) {
  const double limit = in.x.dtype() == DType::f64 ? 1e-12 : 1e-5;
  AttentionInput looked_at = in;
  Tensor whole_weights;
  looked_at.weights = &whole_weights;
  const Tensor whole = run(layer, looked_at);
  const Decoded plain = decode(layer, in, beams, false);
  const Decoded observed = decode(layer, in, beams, true);
  Failures failures;
  double error = 0.0, weight_error = 0.0;
  bool same = true;
  std::size_t with_weights = 0;
  for (std::size_t i = 0; i < plain.steps.size(); ++i) {
    const Decoded::Step& step = observed.steps[i];
    error = std::max(error, step_error(plain.steps[i].y, part_of(whole, step, 1)));
    same = same && same_bits(step.y, plain.steps[i].y);
    if (!step.weights.defined()) continue;
    ++with_weights;
    weight_error =
        std::max(weight_error, step_error(step.weights, part_of(whole_weights, step, 2)));
  }
  if (!(error <= limit)) failures.push_back(fmt::format("is {} away from the whole", error));
  if (!same) failures.push_back("gives other bits if weights are observed");
  if (!(weight_error <= limit)) {
    failures.push_back(fmt::format("has weights that are {} away from the whole's", weight_error));
  }
  if (with_weights != 0 && with_weights != plain.steps.size()) {
    failures.push_back(
        fmt::format("gives weights at {} of {} steps", with_weights, plain.steps.size()));
  }
  return failures;
}

}  // namespace

Failures check_decoding(const Subject& subject) {
  Failures failures;
  if (!subject.traits.decodes) return failures;
  const NoGrad off;
  for (const Mode& mode : modes_of(subject.traits)) {
    if (mode.mask || (!mode.memory && !mode.causal)) continue;
    for (const DType dtype : {DType::f32, DType::f64}) {
      const auto layer = subject.make();
      layer->to(dtype);
      const AttentionInput in = input_of(subject.traits, mode, {}, dtype);
      for (const bool beams : {false, true}) {
        const std::string what = fmt::format("{}, {}: decoding{}", mode.name, name_of(dtype),
                                             beams ? " with beams" : "");
        try {
          for (const std::string& failure : decoding_failures(*layer, in, beams)) {
            failures.push_back(what + " " + failure);
          }
        } catch (const Error& e) {
          failures.push_back(fmt::format("{} fails: {}", what, e.what()));
        }
      }
    }
  }
  return failures;
}

Failures check_sizes(const Subject& subject) {
  Failures failures;
  constexpr Sizes kSizes[] = {{0, 3, 3}, {2, 0, 0},  {1, 1, 1},  {2, 0, 5},
                              {2, 5, 0}, {2, 7, 17}, {1, 63, 65}};
  for (const Mode& mode : modes_of(subject.traits)) {
    for (const Sizes& s : kSizes) {
      if (!mode.memory && s.Tq != s.Tk) continue;
      const auto layer = subject.make();
      const std::string what = fmt::format("{}, B {} Tq {} Tk {}", mode.name, s.B, s.Tq, s.Tk);
      try {
        AttentionInput in = input_of(subject.traits, mode, s);
        Tensor weights;
        in.weights = &weights;
        const Tensor y = run(*layer, in);
        if (!finite(y)) failures.push_back(what + ": not finite");
        if (!weights.defined() || weights.rank() != 4 || weights.size(0) != s.B) {
          failures.push_back(what + ": weights are not [B, H, Tq, Tk]");
        } else if (!finite(weights)) {
          failures.push_back(what + ": weights are not finite");
        }
        if (y.size(0) != s.B) failures.push_back(what + ": lost the batch");
        const Form form = subject.traits.form;
        if ((form == Form::sequence || form == Form::memory) && y.shape() != in.x.shape()) {
          failures.push_back(what + ": result " + to_string(y.shape()));
        }
      } catch (const Error& e) {
        failures.push_back(what + ": " + e.what());
      }
    }
  }
  return failures;
}

Failures check_saving(const Subject& subject) {
  const TempDir dir;
  const auto layer = subject.make(), other = subject.make();
  for (Tensor& parameter : other->parameters()) {
    copy_into(parameter, full(parameter.shape(), 0.5, parameter.dtype()));
  }
  save_parameters(*layer, dir / "layer.safetensors");
  load_parameters(*other, dir / "layer.safetensors");
  const AttentionInput in = input_of(subject.traits, modes_of(subject.traits).front(), {});
  if (same_bits(run(*layer, in), run(*other, in))) return {};
  return {"a loaded layer gives other bits"};
}

namespace {

// The result of a call and its weights.
struct Observed {
  Tensor y, weights;
};

Observed observe(const AttentionLayer& layer, AttentionInput in) {
  Observed seen;
  in.weights = &seen.weights;
  seen.y = run(layer, in);
  return seen;
}

// What is wrong with the weights of one call, whatever they are.
Failures observing_failures(const AttentionLayer& layer, const AttentionInput& in) {
  Failures failures;
  const Tensor plain = run(layer, in);
  const Observed seen = observe(layer, in), again = observe(layer, in);
  if (!same_bits(seen.y, plain)) {
    failures.push_back("the result has other bits if weights are observed");
  }
  if (!seen.weights.defined() || !again.weights.defined()) {
    failures.push_back("there are no weights");
    return failures;
  }
  if (seen.weights.tracks_grad()) failures.push_back("weights have a gradient");
  if (!same_bits(seen.weights, again.weights)) {
    failures.push_back("a second call has weights with other bits");
  }
  return failures;
}

// The first weight of each head that is not 0 where the mode hides the key.
Failures hidden_weights(const Tensor& w, const Mode& mode) {
  const std::int64_t H = w.size(1), R = w.size(2), T = w.size(3);
  for (std::int64_t i = 0; i < w.numel(); ++i) {
    const std::int64_t b = i / (H * R * T), row = i / T % R, col = i % T;
    const bool hidden = (mode.lengths && col >= length_of(b, T)) || (mode.causal && col > row) ||
                        (mode.mask && !sees(row, col));
    if (hidden && w.data<float>()[i] != 0.0f) {
      return {
          fmt::format("row {} has weight {} at hidden position {}", row, w.data<float>()[i], col)};
    }
  }
  return {};
}

}  // namespace

Failures check_weights(const Subject& subject) {
  Failures failures;
  const Sizes sizes{.B = 3, .Tq = 9, .Tk = 13};
  for (const Mode& mode : modes_of(subject.traits)) {
    const AttentionInput in = input_of(subject.traits, mode, sizes);
    for (const bool training : {false, true}) {
      const auto layer = subject.make();
      layer->train(training);
      const auto add = [&](const Failures& found) {
        for (const std::string& failure : found) {
          failures.push_back(
              fmt::format("{}, {}: {}", mode.name, training ? "training" : "evaluation", failure));
        }
      };
      add(observing_failures(*layer, in));
      const NoGrad off;
      add(observing_failures(*layer, in));
      const Tensor w = observe(*layer, in).weights;
      if (!w.defined()) continue;
      if (w.rank() != 4 || w.size(0) != sizes.B) {
        add({fmt::format("weights are {}", to_string(w.shape()))});
        continue;
      }
      if (!finite(w)) add({"weights are not finite"});
      // Slots are not positions: none is hidden.
      if (subject.traits.form != Form::memory) add(hidden_weights(contiguous_copy(w), mode));
    }
  }
  return failures;
}

const std::vector<Check>& all_checks() {
  static const std::vector<Check> checks = {
      {"precision", check_precision}, {"gradients", check_gradients},
      {"hidden", check_hidden},       {"independence", check_independence},
      {"decoding", check_decoding},   {"sizes", check_sizes},
      {"saving", check_saving},       {"weights", check_weights},
  };
  return checks;
}

}  // namespace heed::test
