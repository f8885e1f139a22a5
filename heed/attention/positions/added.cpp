#include "heed/attention/positions/added.h"

#include <vector>

#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/join.h"
#include "heed/ops/view.h"

namespace heed {

AddedCode::AddedCode(std::string_view name, std::int64_t embed, std::int64_t length,
                     std::int64_t offset)
    : name_(name), embed_(embed), length_(length), offset_(offset) {
  check_position(name, "embed", embed);
  check_position(name, "offset", offset, 0);
  check_position(name, "max_length", length);
}

Tensor AddedCode::embed(const Tensor& x, FirstPositions first) const {
  HEED_CHECK(x.rank() == 3 && x.size(2) == embed_, "[{}] x is {}: it must be [B, T, {}]", name_,
             to_string(x.shape()), embed_);
  const std::int64_t B = x.size(0), T = x.size(1);
  HEED_CHECK(first.least() >= 0 && first.greatest() <= length_ - T,
             "[{}] positions {} to {}: only 0 to {} exist, raise max_length", name_, first.least(),
             first.greatest() + T - 1, length_ - 1);
  if (first.is_common()) return x + codes(first.of(0) + offset_, T, x.dtype());  // [B, T, E]
  std::vector<Tensor> rows;
  for (std::int64_t b = 0; b < B; ++b) {
    rows.push_back(unsqueeze(codes(first.of(b) + offset_, T, x.dtype()), 0));  // [1, T, E]
  }
  return x + concat(rows, 0);  // [B, T, E]
}

}  // namespace heed
