#include "heed/models/output_layer.h"

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/kernels/packed/remainder.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/index.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {

Tensor OutputLayer::operator()(const Tensor& states) const {
  const Tensor scores = Linear::operator()(states);  // […, V]
  return soft_cap_ > 0.0 ? tanh(scores * (1.0 / soft_cap_)) * soft_cap_ : scores;
}

void OutputLayer::find_likeliest(const Tensor& states, kernels::PackedLikeliest call) const {
  HEED_ASSERT(can_find_likeliest() && states.rank() == 2);
  const Tensor rows = contiguous_copy(states);  // [rows, E]
  call.scores = weight.packed->call_with(rows, bias);
  call.remainders = weight.packed->remainders().data();
  kernels::packed_likeliest(call);
}

float OutputLayer::score(const Tensor& state, std::int64_t token) const {
  HEED_ASSERT(soft_cap_ <= 0.0 && state.rank() == 2 && state.size(0) == 1);
  const std::span<const std::int8_t> remainders =
      weight.packed ? weight.packed->remainders() : std::span<const std::int8_t>();
  if (remainders.empty()) return rows(state, token, token + 1).data<float>()[0];
  const Tensor row = contiguous_copy(state);  // [1, E]
  const kernels::PackedProduct call = weight.packed->call_with(row, bias);
  const float sum = kernels::refined_product(call.x, call.weight, remainders.data(), token);
  return call.bias != nullptr ? sum + call.bias[token] : sum;
}

OutputLayer OutputLayer::select(std::span<const std::int32_t> tokens) const {
  const NoGrad no_grad;
  const Tensor ids = from_values(tokens, {std::ssize(tokens)});
  return OutputLayer(weight.select(tokens), bias.defined() ? index_select(bias, 0, ids) : Tensor(),
                     soft_cap_);
}

LinearCrossEntropy OutputLayer::loss(const Tensor& states, const Tensor& targets,
                                     const CrossEntropyOptions& options) const {
  if (soft_cap_ <= 0.0 && !weight.packed) {
    return linear_cross_entropy(states, weight.data, targets, options, 0, bias);
  }
  const Tensor scores = (*this)(states);  // […, V]
  LinearCrossEntropy result{.loss = cross_entropy(scores, targets, options),
                            .negative_log_likelihood = 0.0,
                            .counted = 0};
  const NoGrad no_grad;
  for (const std::int64_t target : targets.to_vector<std::int64_t>()) {
    if (target != options.ignore_index) ++result.counted;
  }
  result.log_likelihoods = -cross_entropy(
      scores, targets, {.ignore_index = options.ignore_index, .reduction = Reduction::none});
  result.negative_log_likelihood = -sum(result.log_likelihoods).item();
  return result;
}

}  // namespace heed
