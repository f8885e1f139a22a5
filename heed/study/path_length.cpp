#include "heed/study/path_length.h"

#include <optional>

#include "heed/autograd/graph.h"
#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

// Positions that are separate leaves, and layers made on demand.
class Stack {
 public:
  Stack(const LayerAt& make, std::int64_t n, std::int64_t embed)
      : make_(make), n_(n), embed_(embed) {}

  // The path through so many layers; none if the last position does not depend on the first.
  std::optional<std::int64_t> path(std::int64_t layers) {
    const std::vector<Tensor> x = inputs();
    std::vector<Tensor> positions = x;
    for (std::int64_t i = 0; i < layers; ++i) positions = layer(i).on_positions(positions);
    const Tensor y = positions.back();  // [1, 1, E]
    const auto counts = [this](const Node& node) { return node.name() == op_; };
    const auto length = shortest_path(y, x.front(), counts);
    // The tape knows that an op reads x, but not which positions; the gradient does.
    sum(y).backward();
    const Tensor slope = x.front().grad();  // [1, 1, E]
    return slope.defined() && max(abs(slope)).item() != 0.0 ? length : std::nullopt;
  }

  std::int64_t sequential() {
    const Tensor y = layer(0).on_positions(inputs()).back();  // [1, 1, E]
    return longest_path(y, [this](const Node& node) { return node.name() == op_; });
  }

 private:
  // In f64: gradients shrink with every layer, and do not underflow before 1e-308.
  std::vector<Tensor> inputs() const {
    Generator generator(1);
    std::vector<Tensor> x;
    for (std::int64_t t = 0; t < n_; ++t) {
      x.push_back(normal({1, 1, embed_}, 0.0, 1.0, generator, DType::f64));  // [1, 1, E]
      x.back().requires_grad();
    }
    return x;
  }

  const SequenceLayer& layer(std::int64_t i) {
    while (static_cast<std::int64_t>(layers_.size()) <= i) {
      layers_.push_back(make_(static_cast<std::int64_t>(layers_.size())));
      layers_.back()->to(DType::f64);
      op_ = layers_.back()->op();
      HEED_CHECK(!op_.empty(),
                 "[path_length] several ops combine positions: no single one can be counted");
    }
    return *layers_[static_cast<std::size_t>(i)];
  }

  const LayerAt& make_;
  std::int64_t n_, embed_;
  std::vector<std::unique_ptr<SequenceLayer>> layers_;
  std::string_view op_;
};

}  // namespace

PathLength count_path(const LayerAt& make, std::int64_t n, std::int64_t embed) {
  HEED_CHECK(n >= 2, "[path_length] {} positions: a path needs two at least", n);
  Stack stack(make, n, embed);
  // Doubles the number until it is enough, then bisects: one more layer keeps the dependence.
  std::int64_t too_few = 0, enough = 1;
  std::optional<std::int64_t> path = stack.path(enough);
  while (!path) {
    HEED_CHECK(enough < n, "[path_length] {} layers do not connect {} positions: none would",
               enough, n);
    too_few = enough;
    enough *= 2;
    path = stack.path(enough);
  }
  while (enough - too_few > 1) {
    const std::int64_t middle = too_few + (enough - too_few) / 2;
    if (const auto shorter = stack.path(middle)) {
      enough = middle;
      path = shorter;
    } else {
      too_few = middle;
    }
  }
  return {.layers = enough, .path = *path, .sequential = stack.sequential()};
}

}  // namespace heed
