#include "heed/nn/reversible.h"

#include <algorithm>
#include <vector>

#include "heed/autograd/replay.h"
#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/join.h"
#include "heed/ops/view.h"

namespace heed {
namespace {

// A part, and the random numbers that it began with.
struct Part {
  ReversiblePart run;
  std::int64_t rows = 0;
  Generator::State before = {};
};

std::vector<Part> parts_of(std::span<const ReversibleLayer> layers) {
  std::vector<Part> parts;
  for (const ReversibleLayer& layer : layers) {
    parts.push_back({.run = layer.f});
    parts.push_back({.run = layer.g, .rows = layer.g_rows});
  }
  return parts;
}

std::vector<Part> parts_of(std::span<const ReversibleStep> steps, const Tensor& memory) {
  std::vector<Part> parts;
  for (const ReversibleStep& step : steps) {
    parts.push_back({.run = [part = step.part, memory](const Tensor& x) { return part(x, memory); },
                     .rows = step.rows});
  }
  return parts;
}

void check_streams(const Streams& x) {
  HEED_CHECK(x.x1.defined() && x.x2.defined() && x.x1.shape() == x.x2.shape() &&
                 x.x1.dtype() == x.x2.dtype(),
             "[reversible] streams {} and {}: both must have the same shape and type",
             x.x1.defined() ? to_string(x.x1.shape()) : "(undefined)",
             x.x2.defined() ? to_string(x.x2.shape()) : "(undefined)");
}

Tensor run_whole(const ReversiblePart& part, const Tensor& x) {
  Tensor y = part(x);
  HEED_CHECK(y.shape() == x.shape(),
             "[reversible] a part turned {} into {}: it must keep the shape, since the two streams "
             "are added",
             to_string(x.shape()), to_string(y.shape()));
  return y;
}

// Calls f(rows, first) with parts of x [.., E] as [rows, E]. Without a number of rows, with x.
template <typename F>
void for_each_rows(const Tensor& x, std::int64_t rows, const F& f) {
  const std::int64_t E = x.size(-1), all = x.numel() / std::max<std::int64_t>(1, E);
  if (rows == 0 || rows >= all) return f(x, 0);
  const Tensor flat = reshape(x, {all, E});
  for (std::int64_t first = 0; first < all; first += rows) {
    f(slice(flat, 0, first, std::min(all, first + rows)), first);
  }
}

Tensor run_part(const Part& part, const Tensor& x) {
  std::vector<Tensor> made;
  for_each_rows(x, part.rows, [&](const Tensor& some, std::int64_t) {
    made.push_back(run_whole(part.run, some));
  });
  return made.size() == 1 ? reshape(made[0], x.shape()) : reshape(concat(made, 0), x.shape());
}

// Calls a part again at x. Adds the gradient that comes back through it to `gradient`, and returns
// its value. Parameters get theirs on the way.
Tensor go_back_whole(const ReversiblePart& part, const Tensor& x, const Tensor& dy,
                     Tensor& gradient) {
  Tensor leaf = x.detach();
  leaf.requires_grad();
  const Tensor y = [&] {
    const GradScope on(GradMode::on);
    return part(leaf);
  }();
  const Tensor value = y.detach();
  // A part that depends neither on its input nor on parameters has no graph.
  if (y.tracks_grad()) backward(y, dy);
  if (leaf.grad().defined()) gradient = gradient + leaf.grad();
  return value;
}

// The same some rows at a time: the random numbers follow each other as in the forward pass.
Tensor go_back(const Part& part, const Tensor& x, const Tensor& dy, Tensor& gradient) {
  const Replay replay(part.before);
  std::vector<Tensor> values, gradients;
  const Shape flat{-1, x.size(-1)};
  for_each_rows(x, part.rows, [&](const Tensor& some, std::int64_t first) {
    if (some.shape() == x.shape()) {
      values.push_back(go_back_whole(part.run, some, dy, gradient));
      return;
    }
    const auto of = [&](const Tensor& all) {
      return slice(reshape(all, flat), 0, first, first + some.size(0));
    };
    Tensor part_gradient = of(gradient);
    values.push_back(go_back_whole(part.run, some, of(dy), part_gradient));
    gradients.push_back(part_gradient);
  });
  if (gradients.empty()) return values[0];
  gradient = reshape(concat(gradients, 0), x.shape());
  return reshape(concat(values, 0), x.shape());
}

// Part i is added to the first stream if i is even, to the second if it is odd.
struct Going {
  Tensor y[2], d[2];  // streams and their gradients, at one part after another from the last on

  void undo(std::size_t i, const Part& part) {
    const NoGrad off;
    const std::size_t to = i % 2, from = 1 - to;
    y[to] = y[to] - go_back(part, y[from], d[to], d[from]);
  }
};

Streams run_on_tape(std::span<const Part> parts, const Streams& x) {
  check_streams(x);
  Tensor y[2] = {x.x1, x.x2};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    y[i % 2] = y[i % 2] + run_part(parts[i], y[1 - i % 2]);
  }
  return {y[0], y[1]};
}

// `leaf` stands for the memory inside the parts. Like parameters, it gets its gradient from each
// part that is undone.
Streams run_as_one_node(std::vector<Part> parts, const Streams& x, const Tensor& memory,
                        Tensor leaf) {
  check_streams(x);
  Tensor y[2] = {x.x1.detach(), x.x2.detach()};
  {
    const NoGrad off;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      parts[i].before = default_generator().state();
      y[i % 2] = y[i % 2] + run_part(parts[i], y[1 - i % 2]);
    }
  }
  Streams last{y[0], y[1]};
  const Tensor inputs[] = {x.x1, x.x2, memory};
  record_all("reversible", std::span(inputs, memory.defined() ? 3 : 2), {&last.x1, &last.x2},
             [parts = std::move(parts), y1 = std::move(y[0]), y2 = std::move(y[1]),
              leaf = std::move(leaf)](Backward& b) mutable {
               Going now{{std::move(y1), std::move(y2)}, {b.dy(0), b.dy(1)}};
               for (; !parts.empty(); parts.pop_back()) now.undo(parts.size() - 1, parts.back());
               b.add(0, std::move(now.d[0]));
               b.add(1, std::move(now.d[1]));
               if (leaf.tracks_grad() && leaf.grad().defined()) b.add(2, leaf.grad());
             });
  return last;
}

}  // namespace

Streams run_plain(std::span<const ReversibleLayer> layers, const Streams& x) {
  return run_on_tape(parts_of(layers), x);
}

Streams run_plain(std::span<const ReversibleStep> steps, const Streams& x, const Tensor& memory) {
  return run_on_tape(parts_of(steps, memory), x);
}

// If no input is tracked, the parts run normally, so that their own graphs reach their parameters.
Streams run_reversible(std::span<const ReversibleLayer> layers, const Streams& x) {
  const Tensor inputs[] = {x.x1, x.x2};
  if (layers.empty() || !detail::wants_tape(std::span(inputs))) return run_plain(layers, x);
  return run_as_one_node(parts_of(layers), x, {}, {});
}

Streams run_reversible(std::span<const ReversibleStep> steps, const Streams& x,
                       const Tensor& memory) {
  const Tensor inputs[] = {x.x1, x.x2, memory};
  const std::span<const Tensor> given(inputs, memory.defined() ? 3 : 2);
  if (steps.empty() || !detail::wants_tape(given)) return run_plain(steps, x, memory);
  Tensor leaf = memory.defined() ? memory.detach() : Tensor();
  if (memory.defined() && memory.tracks_grad()) leaf.requires_grad();
  return run_as_one_node(parts_of(steps, leaf), x, memory, leaf);
}

}  // namespace heed
