#include "heed/attention/positions/added.h"

#include "heed/base/error.h"
#include "heed/ops/elementwise.h"

namespace heed {

AddedCode::AddedCode(std::string_view name, std::int64_t embed, std::int64_t length,
                     std::int64_t offset)
    : name_(name), embed_(embed), length_(length), offset_(offset) {
  check_position(name, "embed", embed);
  check_position(name, "offset", offset, 0);
  check_position(name, "max_length", length);
}

Tensor AddedCode::embed(const Tensor& x, std::int64_t first) const {
  HEED_CHECK(x.rank() == 3 && x.size(2) == embed_, "[{}] x is {}: it must be [B, T, {}]", name_,
             to_string(x.shape()), embed_);
  const std::int64_t T = x.size(1);
  HEED_CHECK(first >= 0 && first <= length_ - T,
             "[{}] positions {} to {}: only 0 to {} exist, raise max_length", name_, first,
             first + T - 1, length_ - 1);
  return x + codes(first + offset_, T, x.dtype());  // [B, T, E]
}

}  // namespace heed
