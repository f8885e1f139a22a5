#include "heed/nn/weight.h"

#include "heed/ops/view.h"

namespace heed {

Tensor Weight::product(const Tensor& x, const LinearOptions& options) const {
  return linear(x, data, options);  // […, out]
}

Weight Weight::rows(std::int64_t begin, std::int64_t end) const {
  return Weight(slice(data, 0, begin, end));  // [end - begin, in]
}

}  // namespace heed
