// A random mechanism of the registry in random sizes.
#include <fmt/format.h>

#include <vector>

#include "heed/attention/registry.h"
#include "heed/autograd/tape.h"
#include "heed/base/threads.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/conformance/subject.h"
#include "torture/cases.h"
#include "torture/compare.h"
#include "torture/smooth.h"

namespace heed::torture {
namespace {

using test::Mode;
using test::Subject;

// Output and gradients of a call.
Outcome outcome_of(const Subject& subject, AttentionInput in, DType dtype) {
  const auto layer = subject.make();
  layer->to(dtype);
  in.x = clone_data(cast_data(in.x, dtype)).requires_grad();
  if (in.memory.defined()) in.memory = clone_data(cast_data(in.memory, dtype)).requires_grad();
  const Tensor y = test::run(*layer, in);
  Outcome outcome;
  outcome.add("the output", y.detach());
  if (subject.traits.gradient != Gradient::exact || !y.tracks_grad()) return outcome;
  Generator generator(5);
  backward(y, cast_data(normal(y.shape(), 0, 1, generator), dtype));
  if (in.x.grad().defined()) outcome.add("dx", in.x.grad());
  for (const NamedTensor& parameter : layer->named_parameters()) {
    if (parameter.tensor.grad().defined()) {
      outcome.add("the gradient of " + parameter.name, parameter.tensor.grad());
    }
  }
  return outcome;
}

// Steps of random sizes against the causal call.
void check_steps(const Subject& subject, const AttentionInput& in, Draws& draws,
                 const std::string& what) {
  const NoGrad off;
  const auto layer = subject.make();
  const Tensor whole = test::run(*layer, in);
  const auto state =
      layer->start({.batch = in.x.size(0), .memory = in.memory, .lengths = in.lengths});
  for (std::int64_t t = 0, n = 0; t < in.x.size(1); t += n) {
    n = std::min(draws.chance(0.7) ? 1 : draws.between(1, 9), in.x.size(1) - t);
    Outcome step, expected;
    step.add("a step", layer->step(clone_data(view::slice(in.x, 1, t, t + n)), *state));
    const std::int64_t columns = std::min(step.tensors[0].size(-1), whole.size(-1));
    expected.add("a step",
                 clone_data(view::slice(view::slice(whole, 1, t, t + n), -1, 0, columns)));
    require_close(step, expected, {}, fmt::format("{}, {} positions from {} on", what, n, t));
  }
}

}  // namespace

std::string mechanism_case(Draws& draws) {
  const auto all = mechanisms();
  const Mechanism& mechanism = all[static_cast<std::size_t>(draws.below(std::ssize(all)))];
  const Subject subject = test::subject_of(mechanism);
  const Mode mode = draws.pick(test::modes_of(subject.traits));
  constexpr std::int64_t kLongest = 80;  // the samples of some mechanisms know no more positions
  const std::int64_t length = draws.length(kLongest);
  const test::Sizes sizes{
      .B = draws.between(1, 4), .Tq = length, .Tk = mode.memory ? draws.length(kLongest) : length};
  const AttentionInput in = test::input_of(subject.traits, mode, sizes);
  const std::string text =
      fmt::format("{} {} B{} Tq{} Tk{}", mechanism.name, mode.name, sizes.B, sizes.Tq, sizes.Tk);
  const bool smooth = is_smooth(mechanism);
  const Outcome twin = outcome_of(subject, in, DType::f64);
  const int threads = num_threads();
  with_isas([&](Isa isa) {
    const std::string what = fmt::format("{}, {}", text, name_of(isa));
    set_num_threads(1);
    const Outcome one = outcome_of(subject, in, DType::f32);
    set_num_threads(3);
    const Outcome three = outcome_of(subject, in, DType::f32);
    set_num_threads(threads);
    require_same_bits(one, three, what + ", 1 and 3 threads");
    if (smooth) require_close(one, twin, {1e-4, 1e-3}, what);
    if (smooth && subject.traits.decodes && (mode.causal || mode.memory) && !mode.mask) {
      check_steps(subject, in, draws, what);
    }
  });
  return text;
}

}  // namespace heed::torture
