#include "heed/nn/weight.h"

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/view.h"

namespace heed {

Tensor Weight::product(const Tensor& x, const LinearOptions& options) const {
  if (!adapter.defined()) return linear(x, data, options);  // […, out]
  const Tensor low = linear(x, adapter.down);               // […, rank]
  const Tensor sum =
      linear(x, data, {.bias = options.bias}) + linear(low, adapter.up) * adapter.scale;
  return options.activation ? unary(*options.activation, sum) : sum;  // […, out]
}

Weight Weight::rows(std::int64_t begin, std::int64_t end) const {
  HEED_CHECK(0 <= begin && begin <= end && end <= out(),
             "[weight] rows {} to {} of a weight {}: they must be within its {} rows", begin, end,
             to_string(data.shape()), out());
  Weight part(slice(data, 0, begin, end));  // [end - begin, in]
  if (adapter.defined())
    part.adapter = {adapter.down, slice(adapter.up, 0, begin, end), adapter.scale};
  return part;
}

void Weight::merge_adapter() {
  if (!adapter.defined()) return;
  const NoGrad no_grad;
  const bool trained = data.tracks_grad();
  data = data.detach() + matmul(adapter.up.detach(), adapter.down.detach()) * adapter.scale;
  data.requires_grad(trained);
  adapter = {};
}

}  // namespace heed
