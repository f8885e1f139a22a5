#include "heed/ops/linear_cross_entropy.h"

#include <algorithm>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/kernels/cross_entropy.h"
#include "heed/kernels/gemm.h"
#include "heed/ops/classes.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"

namespace heed {
namespace {

// Rows per block: up to 128 MB of scores. Every block packs W again for its products, so small
// blocks cost time (2048 x 512 x 32000 on two cores of Zen 4: 131 rows 1664 ms, 256 rows 1500, 1024
// rows 1450, all at once 1425; HEED_BENCH_ALL=1 ./run bench core loss), and more than a thousand
// rows gain little.
std::int64_t default_rows(std::int64_t classes) {
  constexpr std::int64_t kScores = std::int64_t{1} << 25;
  return std::clamp<std::int64_t>(kScores / std::max<std::int64_t>(1, classes), 256, 1024);
}

struct Sizes {
  std::int64_t rows, features, classes;
  std::int64_t at_once;  // rows of a block
};

// Inputs and outputs of one call; gradients that are not needed are null.
template <typename T>
struct Work {
  Sizes sizes;
  double smoothing;
  double share;  // weight of a row in the loss
  const T* x;
  const T* weight;
  const std::int64_t* targets;
  T* dx = nullptr;
  T* dweight = nullptr;
};

struct Sums {
  double loss = 0.0, likelihood = 0.0;
};

// Blocks run one after another, so all sums over them (the gradient of W too) have a fixed order.
template <typename T>
class Blocks {
 public:
  explicit Blocks(const Work<T>& work)
      : w_(work),
        step_(std::min(work.sizes.rows, work.sizes.at_once)),
        scores_(empty({step_, work.sizes.classes}, dtype_of<T>)),
        losses_(empty({step_}, dtype_of<T>)),
        log_sum_exp_(empty({step_}, dtype_of<T>)),
        shares_(full({step_}, work.share, dtype_of<T>)) {}

  Sums run() {
    Sums sums;
    for (std::int64_t first = 0; first < w_.sizes.rows; first += step_) {
      const std::int64_t rows = std::min(step_, w_.sizes.rows - first);
      forward(first, rows, sums);
      if (w_.dx != nullptr || w_.dweight != nullptr) backward(first, rows);
    }
    return sums;
  }

 private:
  kernels::Rows shape(std::int64_t rows) const { return {rows, w_.sizes.classes}; }

  void forward(std::int64_t first, std::int64_t rows, Sums& sums) {
    const std::int64_t E = w_.sizes.features, V = w_.sizes.classes;
    T* const scores = scores_.template mutable_data<T>();
    kernels::gemm(kernels::GemmCall<T>{.shape = {rows, V, E},
                                       .a = {w_.x + first * E, E, 1},
                                       .b = {w_.weight, 1, E},
                                       .c = scores,
                                       .ldc = V});
    T* const losses = losses_.template mutable_data<T>();
    T* const log_sum_exp = log_sum_exp_.template mutable_data<T>();
    kernels::cross_entropy(kernels::CrossEntropyForward<T>{.rows = shape(rows),
                                                           .smoothing = w_.smoothing,
                                                           .logits = scores,
                                                           .targets = w_.targets + first,
                                                           .loss = losses,
                                                           .log_sum_exp = log_sum_exp});
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t target = w_.targets[first + row];
      if (target == kernels::kIgnoredTarget) continue;
      sums.loss += static_cast<double>(losses[row]);
      sums.likelihood += static_cast<double>(log_sum_exp[row] - scores[row * V + target]);
    }
  }

  // Overwrites the scores with their gradient.
  void backward(std::int64_t first, std::int64_t rows) {
    const std::int64_t E = w_.sizes.features, V = w_.sizes.classes;
    T* const scores = scores_.template mutable_data<T>();
    kernels::cross_entropy_backward(
        kernels::CrossEntropyBackward<T>{.rows = shape(rows),
                                         .smoothing = w_.smoothing,
                                         .logits = scores,
                                         .targets = w_.targets + first,
                                         .log_sum_exp = log_sum_exp_.template data<T>(),
                                         .dloss = shares_.template data<T>(),
                                         .dlogits = scores});
    if (w_.dx != nullptr) {
      kernels::gemm(kernels::GemmCall<T>{.shape = {rows, E, V},
                                         .a = {scores, V, 1},
                                         .b = {w_.weight, E, 1},
                                         .c = w_.dx + first * E,
                                         .ldc = E});
    }
    if (w_.dweight != nullptr) {
      kernels::gemm(kernels::GemmCall<T>{.shape = {V, E, rows},
                                         .a = {scores, 1, V},
                                         .b = {w_.x + first * E, E, 1},
                                         .c = w_.dweight,
                                         .ldc = E,
                                         .beta = static_cast<T>(first == 0 ? 0 : 1)});
    }
  }

  Work<T> w_;
  std::int64_t step_;
  Tensor scores_, losses_, log_sum_exp_, shares_;
};

void check_arguments(const Tensor& x, const Tensor& weight, const Tensor& targets,
                     const CrossEntropyOptions& options) {
  HEED_CHECK(
      x.rank() >= 1 && weight.rank() == 2 && weight.size(0) >= 1 && x.size(-1) == weight.size(1),
      "[linear_cross_entropy] x {} and weight {}: weight must be [classes, features] with the "
      "features of x",
      to_string(x.shape()), to_string(weight.shape()));
  Shape rows = x.shape();
  rows.erase(rows.rank() - 1);
  HEED_CHECK(targets.shape() == rows,
             "[linear_cross_entropy] x {} and targets {}: the targets must be {}, one class a row",
             to_string(x.shape()), to_string(targets.shape()), to_string(rows));
  HEED_CHECK(x.dtype() == weight.dtype(),
             "[linear_cross_entropy] x is {}, weight {}: they must agree; cast one of them",
             name_of(x.dtype()), name_of(weight.dtype()));
  HEED_CHECK(
      options.reduction != Reduction::none,
      "[linear_cross_entropy] reduction none: use cross_entropy for the losses of single rows");
  HEED_CHECK(options.label_smoothing >= 0.0 && options.label_smoothing <= 1.0,
             "[linear_cross_entropy] label_smoothing {}: it must be from 0 to 1",
             options.label_smoothing);
}

}  // namespace

LinearCrossEntropy linear_cross_entropy(const Tensor& x, const Tensor& weight,
                                        const Tensor& targets, CrossEntropyOptions options,
                                        std::int64_t rows_at_once) {
  check_arguments(x, weight, targets, options);
  HEED_CHECK(
      rows_at_once >= 0,
      "[linear_cross_entropy] rows_at_once {}: it must be 1 or more, or 0 to choose automatically",
      rows_at_once);
  const Classes classes = classes_of(targets, weight.size(0), options.ignore_index);
  const Tensor rows = contiguous_copy(x), matrix = contiguous_copy(weight);
  const bool taped = detail::wants_tape(detail::TensorRefs{x, weight});
  Tensor dx = taped && x.tracks_grad() ? empty(x.shape(), x.dtype()) : Tensor();
  Tensor dweight = taped && weight.tracks_grad() ? zeros(weight.shape(), x.dtype()) : Tensor();
  const double share = options.reduction == Reduction::mean
                           ? 1.0 / static_cast<double>(std::max<std::int64_t>(1, classes.counted))
                           : 1.0;
  LinearCrossEntropy result{{}, 0.0, classes.counted};
  visit_float("linear_cross_entropy", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    Blocks<T> blocks(
        {.sizes = {.rows = targets.numel(),
                   .features = weight.size(1),
                   .classes = weight.size(0),
                   .at_once = rows_at_once > 0 ? rows_at_once : default_rows(weight.size(0))},
         .smoothing = options.label_smoothing,
         .share = share,
         .x = rows.data<T>(),
         .weight = matrix.data<T>(),
         .targets = classes.targets.data<std::int64_t>(),
         .dx = dx.defined() ? dx.mutable_data<T>() : nullptr,
         .dweight = dweight.defined() ? dweight.mutable_data<T>() : nullptr});
    const Sums sums = blocks.run();
    result.loss = full({}, sums.loss * share, x.dtype());
    result.negative_log_likelihood = sums.likelihood;
  });
  result.loss = record("linear_cross_entropy", {x, weight}, result.loss,
                       [dx, dweight](Backward& back) mutable {
                         const double scale = back.dy().item();
                         for (int input = 0; Tensor * gradient : {&dx, &dweight}) {
                           if (back.needs(input)) {
                             if (scale != 1.0) scale_in_place(*gradient, scale);
                             back.add(input, std::move(*gradient));
                           }
                           ++input;
                         }
                       });
  return result;
}

}  // namespace heed
