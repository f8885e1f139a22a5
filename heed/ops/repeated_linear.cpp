#include "heed/ops/repeated_linear.h"

#include <utility>

#include "heed/autograd/tape.h"
#include "heed/base/arena_vector.h"
#include "heed/kernels/gemm.h"
#include "heed/ops/join.h"
#include "heed/ops/matmul.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"

namespace heed {
namespace {

// All axes but the last merged into one: [rows, features].
Tensor flat_rows(const Tensor& x) { return view::reshape(contiguous_copy(x), {-1, x.size(-1)}); }

// The weight as products read it fast: rows that collide in the cache are copied once, for all
// uses.
Tensor with_fast_rows(const Tensor& weight) {
  const bool copies = weight.dtype() == DType::f32 && weight.strides()[1] == 1 &&
                      kernels::rows_collide(weight.strides()[0]);
  if (!copies) return weight;
  const Tensor wide = empty({weight.size(0), weight.size(1) + kernels::kRowPadding});
  Tensor copy = view::slice(wide, 1, 0, weight.size(1));  // [out, in]
  copy_into(copy, weight);
  return copy;
}

}  // namespace

// What the gradient of the weight is computed from; the backward pass of each use adds to it.
struct RepeatedLinear::Uses {
  ArenaVector<Tensor> inputs;     // [rows, in] each
  ArenaVector<Tensor> gradients;  // [rows, out] each
  Tensor weight;                  // [out, in], made by the first of them
};

// The anchor is older than every use, so its node runs after them all.
RepeatedLinear::RepeatedLinear(const Tensor& weight, const Tensor& bias)
    : weight_(weight.detach()), bias_(bias.defined() ? bias.detach() : Tensor()) {
  if (!detail::wants_tape(detail::TensorRefs{weight, bias})) return;
  uses_ = std::allocate_shared<Uses>(ArenaAllocator<Uses>());
  anchor_ = record("repeated_linear", {weight, bias}, empty({0}, weight.dtype()),
                   [uses = uses_](Backward& b) {
                     if (uses->inputs.empty()) return;
                     const Tensor x = concat(uses->inputs, 0);      // [rows, in]
                     const Tensor dy = concat(uses->gradients, 0);  // [rows, out]
                     *uses = {};
                     if (b.needs(0)) b.add(0, matmul(view::transpose(dy, 0, 1), x));
                     if (b.needs(1)) b.add(1, dy);
                   });
}

Tensor RepeatedLinear::operator()(const Tensor& x) const {
  const Tensor y = [&] {
    const NoGrad no_grad;
    return linear(x, weight_, {.bias = bias_});  // […, out]
  }();
  if (!uses_) {
    return record("repeated_linear_use", {x}, y,
                  [weight = weight_](Backward& b) { b.add(0, matmul(b.dy(), weight)); });
  }
  return record("repeated_linear_use", {x, anchor_}, y,
                [weight = weight_, x = x.detach(), uses = uses_](Backward& b) {
                  if (!uses->weight.defined()) uses->weight = with_fast_rows(weight);
                  if (b.needs(0)) b.add(0, matmul(b.dy(), uses->weight));
                  uses->inputs.push_back(flat_rows(x));
                  uses->gradients.push_back(flat_rows(b.dy()));
                });
}

}  // namespace heed
