#include "heed/models/output_layer.h"

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/tensor/copy.h"

namespace heed {

Tensor OutputLayer::operator()(const Tensor& states) const {
  const Tensor scores = Linear::operator()(states);  // […, V]
  return soft_cap_ > 0.0 ? tanh(scores * (1.0 / soft_cap_)) * soft_cap_ : scores;
}

void OutputLayer::find_likeliest(const Tensor& states, kernels::PackedLikeliest call) const {
  HEED_ASSERT(can_find_likeliest() && states.rank() == 2);
  const Tensor rows = contiguous_copy(states);  // [rows, E]
  call.scores = weight.packed->call_with(rows, bias);
  kernels::packed_likeliest(call);
}

LinearCrossEntropy OutputLayer::loss(const Tensor& states, const Tensor& targets,
                                     const CrossEntropyOptions& options) const {
  if (!bias.defined() && soft_cap_ <= 0.0 && !weight.packed) {
    return linear_cross_entropy(states, weight.data, targets, options);
  }
  const Tensor scores = (*this)(states);  // […, V]
  LinearCrossEntropy result{.loss = cross_entropy(scores, targets, options),
                            .negative_log_likelihood = 0.0,
                            .counted = 0};
  const NoGrad no_grad;
  for (const std::int64_t target : targets.to_vector<std::int64_t>()) {
    if (target != options.ignore_index) ++result.counted;
  }
  result.negative_log_likelihood =
      cross_entropy(scores, targets,
                    {.ignore_index = options.ignore_index, .reduction = Reduction::sum})
          .item();
  return result;
}

}  // namespace heed
