// The time of a training step by part of the model, forward and backward, and by kind of op in the
// backward pass, as shares of one step. tools/profile_by_kind.py shows the kernels.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "benchmarks/models/cases.h"
#include "benchmarks/suites.h"
#include "benchmarks/support/measure.h"
#include "heed/autograd/tape.h"
#include "heed/tensor/create.h"

namespace heed::bench {
namespace {

using Times = std::map<std::string, double>;

// The end of a part of the forward pass; every node made before has a lower number.
struct Boundary {
  std::string part;
  std::uint64_t sequence;
};

std::uint64_t next_sequence() { return Node::leaf({}, DType::f32)->sequence(); }

const std::string& part_of(const std::vector<Boundary>& boundaries, std::uint64_t sequence) {
  const auto found = std::ranges::find_if(
      boundaries, [&](const Boundary& boundary) { return sequence < boundary.sequence; });
  return found == boundaries.end() ? boundaries.back().part : found->part;
}

// The same as heed::backward, with a clock around every node: newest first, each once.
template <typename OnNode>
void walk(const Tensor& loss, OnNode&& on_node) {
  const NoGrad off;
  loss.node()->slots()[0].grad = ones(loss.shape());
  std::map<std::uint64_t, Ref<Node>> waiting{{loss.node()->sequence(), loss.node()}};
  while (!waiting.empty()) {
    const Ref<Node> node = waiting.extract(std::prev(waiting.end())).mapped();
    const double start = now();
    Backward backward(*node);
    node->run(backward);
    for (const Edge& edge : node->edges()) {
      if (edge.node && !edge.node->leaf()) waiting.emplace(edge.node->sequence(), edge.node);
    }
    node->finish();
    on_node(*node, now() - start);
  }
}

struct Profile {
  Times parts, ops;
  double total = 0.0;
};

Profile profile_step(TrainedModel& model, std::int64_t batch) {
  Profile profile;
  std::vector<Boundary> boundaries;
  const double start = now();
  double last = start;
  const auto passed = [&] {
    const double before = std::exchange(last, now());
    return last - before;
  };
  const Tensor loss = model.forward(batch, [&](const char* part) {
    profile.parts[fmt::format("forward: {}", part)] += passed();
    boundaries.push_back({part, next_sequence()});
  });
  walk(loss, [&](const Node& node, double time) {
    profile.parts["backward: " + part_of(boundaries, node.sequence())] += time;
    profile.ops[node.name()] += time;
  });
  passed();
  model.update();
  profile.parts["optimiser"] = passed();
  profile.total = now() - start;
  return profile;
}

// The fastest of several steps.
Profile best_profile(TrainedModel& model, int steps) {
  const std::int64_t batch = model.batches() / 2;
  profile_step(model, batch);
  Profile best = profile_step(model, batch);
  for (int i = 1; i < steps; ++i) {
    Profile next = profile_step(model, batch);
    if (next.total < best.total) best = std::move(next);
  }
  return best;
}

void print(Report& report, const std::string& group, const Times& times, double total) {
  std::vector<std::pair<std::string, double>> rows(times.begin(), times.end());
  std::ranges::stable_sort(rows, std::greater<>(), [](const auto& row) { return row.second; });
  for (const auto& [name, time] : rows) {
    if (time < 0.002 * total) continue;
    report.add({group, name, num_threads(), time / total, 0.0, fmt::format("{:.2f} ms", time * 1e3),
                fmt::format("{:.2f} ms a step", total * 1e3)});
  }
}

}  // namespace

void model_profile(Report& report) {
  for (const ModelCase& item : model_cases()) {
    const Threads use(threads_of(item).back());
    const auto model = item.make();
    const Profile best = best_profile(*model, item.rounds);
    print(report, fmt::format("shares of a step by part: {}", item.title), best.parts, best.total);
    print(report, fmt::format("shares of a step by op, backward: {}", item.title), best.ops,
          best.total);
  }
}

}  // namespace heed::bench
