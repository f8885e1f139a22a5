#include "heed/ops/cross_entropy.h"

#include <algorithm>

#include "heed/autograd/tape.h"
#include "heed/kernels/cross_entropy.h"
#include "heed/kernels/reduce.h"
#include "heed/ops/classes.h"
#include "heed/ops/rows.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"

namespace heed {
namespace {

void check_arguments(const Tensor& logits, const Tensor& targets,
                     const CrossEntropyOptions& options) {
  HEED_CHECK(logits.rank() >= 1 && logits.size(-1) >= 1,
             "[cross_entropy] logits {}: the last axis must hold at least one class",
             to_string(logits.shape()));
  Shape rows = logits.shape();
  rows.erase(rows.rank() - 1);
  HEED_CHECK(targets.shape() == rows,
             "[cross_entropy] logits {} and targets {}: the targets must be {}, one class per row",
             to_string(logits.shape()), to_string(targets.shape()), to_string(rows));
  HEED_CHECK(options.label_smoothing >= 0.0 && options.label_smoothing <= 1.0,
             "[cross_entropy] label_smoothing {}: it must be from 0 to 1", options.label_smoothing);
}

Tensor total_of(const Tensor& losses) {
  return visit_float("cross_entropy", losses.dtype(), [&](auto zero) {
    using T = decltype(zero);
    Tensor total = empty({}, losses.dtype());
    kernels::reduce(kernels::Reduce::sum, {1, losses.numel(), 1}, losses.data<T>(),
                    total.mutable_data<T>());
    return total;
  });
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Tensor& targets, CrossEntropyOptions options) {
  check_arguments(logits, targets, options);
  const kernels::Rows rows = rows_of(logits);
  const Classes classes = classes_of(targets, rows.width, options.ignore_index);
  const Tensor in = contiguous_copy(logits);
  Tensor losses = empty({rows.count}, logits.dtype());
  Tensor log_sum_exp = empty({rows.count}, logits.dtype());
  visit_float("cross_entropy", logits.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::cross_entropy(
        kernels::CrossEntropyForward<T>{.rows = rows,
                                        .smoothing = options.label_smoothing,
                                        .logits = in.data<T>(),
                                        .targets = classes.targets.data<std::int64_t>(),
                                        .loss = losses.mutable_data<T>(),
                                        .log_sum_exp = log_sum_exp.mutable_data<T>()});
  });

  const bool each = options.reduction == Reduction::none;
  const double share = options.reduction == Reduction::mean
                           ? 1.0 / static_cast<double>(std::max<std::int64_t>(1, classes.counted))
                           : 1.0;
  Tensor y = each ? view::reshape(losses, targets.shape()) : total_of(losses);
  if (share != 1.0) scale_in_place(y, share);

  const auto backward = [=, smoothing = options.label_smoothing](Backward& b) {
    const Tensor dloss =
        each ? contiguous_copy(b.dy()) : full({rows.count}, b.dy().item() * share, in.dtype());
    Tensor dlogits = empty_like(in);
    visit_float("cross_entropy", in.dtype(), [&](auto zero) {
      using T = decltype(zero);
      kernels::cross_entropy_backward(
          kernels::CrossEntropyBackward<T>{.rows = rows,
                                           .smoothing = smoothing,
                                           .logits = in.data<T>(),
                                           .targets = classes.targets.data<std::int64_t>(),
                                           .log_sum_exp = log_sum_exp.data<T>(),
                                           .dloss = dloss.data<T>(),
                                           .dlogits = dlogits.mutable_data<T>()});
    });
    b.add(0, std::move(dlogits));
  };
  return record("cross_entropy", {logits}, std::move(y), backward);
}

}  // namespace heed
