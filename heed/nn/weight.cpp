#include "heed/nn/weight.h"

#include "heed/base/error.h"
#include "heed/ops/view.h"

namespace heed {

Tensor Weight::product(const Tensor& x, const LinearOptions& options) const {
  return linear(x, data, options);  // […, out]
}

Weight Weight::rows(std::int64_t begin, std::int64_t end) const {
  HEED_CHECK(0 <= begin && begin <= end && end <= out(),
             "[weight] rows {} to {} of a weight {}: they must be within its {} rows", begin, end,
             to_string(data.shape()), out());
  return Weight(slice(data, 0, begin, end));  // [end - begin, in]
}

}  // namespace heed
