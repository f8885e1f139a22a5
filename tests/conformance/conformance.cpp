#include "tests/conformance/conformance.h"

#include <cmath>
#include <limits>

#include "heed/autograd/gradcheck.h"
#include "heed/autograd/tape.h"
#include "heed/base/threads.h"
#include "heed/nn/checkpoint_file.h"
#include "heed/ops/index.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/conformance/subject.h"
#include "tests/support/op_case.h"
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

// x with every position from `first` of sequence b on spoilt.
Tensor spoilt(const Tensor& x, std::int64_t b, std::int64_t first, double by) {
  const Tensor result = clone_data(x);
  Tensor part = view::slice(view::select(result, 0, b), 0, first, x.size(1));
  copy_into(part, full(part.shape(), by, x.dtype()));
  return result;
}

// What comes out for the queries [0, end) of sequence b.
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
    const double error = max_relative_error(cast_data(y, DType::f64), run(*exact, in));
    if (!(error <= 1e-5)) {
      failures.push_back(fmt::format("{}: f32 is {} away from f64", mode.name, error));
    }
  }
  return failures;
}

Failures check_gradients(const Subject& subject) {
  Failures failures;
  if (!subject.traits.gradient) return failures;
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
    const GradCheckResult result = gradcheck(f, leaves);
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
      // Queries that see what is spoilt may stand in one block with those that do not, and a block
      // chooses its way of rounding as a whole.
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
    // A draw belongs to its place in the batch, and matrix products round by their sizes.
    if (!subject.traits.gradient) continue;
    const Tensor alone = run(*layer, sequence(in, 2));
    const double error = max_relative_error(alone, clone_data(view::slice(y, 0, 2, 3)));
    if (!(error <= 2e-6)) {
      failures.push_back(fmt::format("{}: a sequence alone is {} away", mode.name, error));
    }
  }
  return failures;
}

namespace {

// How far the result of decoding x, in steps of one, one and then three positions, is from the
// whole; pointers know no positions yet to come, and the whole gives those 0. Among beams, before
// each step sequences change places, become more, or become fewer.
double decoding_error(const AttentionLayer& layer, const AttentionInput& in, const Tensor& whole,
                      bool beams) {
  const std::vector<std::vector<std::int64_t>> orders = {
      {2, 1, 0, 1}, {0, 2, 1, 0, 2}, {4, 1}, {1, 1, 0}, {2}};
  const auto state =
      layer.start({.batch = in.x.size(0), .memory = in.memory, .lengths = in.lengths});
  std::vector<std::int64_t> rows = {0, 1, 2};  // of x, which each sequence is
  double error = 0.0;
  std::size_t step = 0;
  for (std::int64_t t = 0, n = 1; t < in.x.size(1); t += n, ++step) {
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
    const auto part = [&](const Tensor& x) {
      return index_select(clone_data(view::slice(x, 1, t, t + n)), 0, ids);
    };
    const Tensor next = layer.step(part(in.x), *state);
    const Tensor expected = clone_data(view::slice(part(whole), 2, 0, next.size(2)));
    error = std::max(error, max_relative_error(next, expected));
  }
  return error;
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
      const Tensor whole = run(*layer, in);
      for (const bool beams : {false, true}) {
        const std::string what = fmt::format("{}, {}: decoding{}", mode.name, name_of(dtype),
                                             beams ? " with beams" : "");
        try {
          const double error = decoding_error(*layer, in, whole, beams);
          if (error <= (dtype == DType::f64 ? 1e-12 : 1e-5)) continue;
          failures.push_back(fmt::format("{} is {} away from the whole", what, error));
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
        const AttentionInput in = input_of(subject.traits, mode, s);
        const Tensor y = run(*layer, in);
        if (!finite(y)) failures.push_back(what + ": not finite");
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

Failures check_weights(const Subject& subject) {
  Failures failures;
  const Sizes sizes{.B = 3, .Tq = 9, .Tk = 13};
  for (const Mode& mode : modes_of(subject.traits)) {
    const auto layer = subject.make();
    const AttentionInput in = input_of(subject.traits, mode, sizes);
    const Generator before = default_generator();
    const Tensor w = layer->weights(in);
    default_generator() = before;
    if (w.rank() != 4 || w.size(0) != sizes.B) {
      failures.push_back(fmt::format("{}: weights are {}", mode.name, to_string(w.shape())));
      continue;
    }
    if (!finite(w)) failures.push_back(mode.name + ": weights are not finite");
    if (subject.traits.form == Form::memory) continue;  // slots are no positions: none is hidden
    const Tensor all = clone_data(w);
    const std::int64_t H = w.size(1), R = w.size(2), T = w.size(3);
    for (std::int64_t i = 0; i < all.numel(); ++i) {
      const std::int64_t b = i / (H * R * T), row = i / T % R, col = i % T;
      const bool hidden = (mode.lengths && col >= length_of(b, T)) || (mode.causal && col > row) ||
                          (mode.mask && !sees(row, col));
      if (hidden && all.data<float>()[i] != 0.0f) {
        failures.push_back(fmt::format("{}: row {} has weight {} at hidden position {}", mode.name,
                                       row, all.data<float>()[i], col));
        break;
      }
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
