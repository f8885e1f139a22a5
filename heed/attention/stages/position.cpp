#include "heed/attention/stages/position.h"

#include "heed/base/error.h"

namespace heed {

std::int64_t common_shift(const std::string& stage, Corner corner,
                          const kernels::AttentionShape& shape) {
  const std::int64_t shift = corner.shift(shape.Tq, shape.Tk);
  if (shape.q_starts == nullptr || shape.B == 0) return shift;
  const std::int64_t first = corner.shift(shape.queries(0), shape.keys(0));
  for (std::int64_t b = 1; b < shape.B; ++b) {
    HEED_CHECK(corner.shift(shape.queries(b), shape.keys(b)) == first,
               "[attention] {} at the bottom_right corner: sequence {} has {} queries and {} keys, "
               "sequence 0 has {} and {}: the difference must be the same in all packed sequences; "
               "use top_left or an offset",
               stage, b, shape.queries(b), shape.keys(b), shape.queries(0), shape.keys(0));
  }
  return first;
}

}  // namespace heed
