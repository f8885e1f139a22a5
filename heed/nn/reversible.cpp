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

// A layer, and the random numbers that its parts began with.
struct RunLayer {
  ReversibleLayer layer;
  Generator::State before_f, before_g;
};

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

Tensor run_part(const ReversiblePart& part, const Tensor& x, std::int64_t rows = 0) {
  std::vector<Tensor> made;
  for_each_rows(x, rows,
                [&](const Tensor& some, std::int64_t) { made.push_back(run_whole(part, some)); });
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
Tensor go_back(const ReversiblePart& part, Generator::State random, const Tensor& x,
               const Tensor& dy, Tensor& gradient, std::int64_t rows = 0) {
  const Replay replay(random);
  std::vector<Tensor> values, gradients;
  const Shape flat{-1, x.size(-1)};
  for_each_rows(x, rows, [&](const Tensor& some, std::int64_t first) {
    if (some.shape() == x.shape()) {
      values.push_back(go_back_whole(part, some, dy, gradient));
      return;
    }
    const auto of = [&](const Tensor& all) {
      return slice(reshape(all, flat), 0, first, first + some.size(0));
    };
    Tensor part_gradient = of(gradient);
    values.push_back(go_back_whole(part, some, of(dy), part_gradient));
    gradients.push_back(part_gradient);
  });
  if (gradients.empty()) return values[0];
  gradient = reshape(concat(gradients, 0), x.shape());
  return reshape(concat(values, 0), x.shape());
}

// The streams and their gradients, at one layer after another from the last to the first.
struct Going {
  Tensor y1, y2, d1, d2;

  void undo(const RunLayer& run) {
    const NoGrad off;
    y2 = y2 - go_back(run.layer.g, run.before_g, y1, d2, d1, run.layer.g_rows);  // x2
    y1 = y1 - go_back(run.layer.f, run.before_f, y2, d1, d2);                    // x1
  }
};

}  // namespace

Streams run_plain(std::span<const ReversibleLayer> layers, const Streams& x) {
  check_streams(x);
  Streams y = x;
  for (const ReversibleLayer& layer : layers) {
    y.x1 = y.x1 + run_part(layer.f, y.x2);
    y.x2 = y.x2 + run_part(layer.g, y.x1, layer.g_rows);
  }
  return y;
}

Streams run_reversible(std::span<const ReversibleLayer> layers, const Streams& x) {
  const Tensor inputs[] = {x.x1, x.x2};
  // If no input is tracked, the parts run normally, so that their own graphs reach their
  // parameters.
  if (layers.empty() || !detail::wants_tape(std::span(inputs))) return run_plain(layers, x);
  check_streams(x);
  std::vector<RunLayer> runs;
  Tensor y1 = x.x1.detach(), y2 = x.x2.detach();
  {
    const NoGrad off;
    for (const ReversibleLayer& layer : layers) {
      RunLayer& run = runs.emplace_back(layer, default_generator().state());
      y1 = y1 + run_part(layer.f, y2);
      run.before_g = default_generator().state();
      y2 = y2 + run_part(layer.g, y1, layer.g_rows);
    }
  }
  Streams y{y1, y2};
  record_all("reversible", std::span(inputs), {&y.x1, &y.x2},
             [runs = std::move(runs), y1 = std::move(y1), y2 = std::move(y2)](Backward& b) mutable {
               Going now{std::move(y1), std::move(y2), b.dy(0), b.dy(1)};
               for (; !runs.empty(); runs.pop_back()) now.undo(runs.back());
               b.add(0, std::move(now.d1));
               b.add(1, std::move(now.d2));
             });
  return y;
}

}  // namespace heed
