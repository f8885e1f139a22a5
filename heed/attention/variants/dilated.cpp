#include "heed/attention/variants/dilated.h"

#include "heed/base/error.h"

namespace heed {

void DilatedConfig::fields(io::Fields& field) {
  multi_head.fields(field);
  field("left", left, "number of earlier keys a position attends to", {.min = 0});
  field("right", right, "number of later keys a position attends to", {.min = 0});
  field("step", step, "distance between these keys", {.min = 1});
}

void DilatedConfig::validate() const {
  constexpr std::int64_t kFar = std::int64_t{1} << 30;  // its square does not overflow
  multi_head.validate();
  HEED_CHECK(left >= 0 && left <= kFar && right >= 0 && right <= kFar,
             "[dilated] left {}, right {}: a window has 0 to {} keys on each side", left, right,
             kFar);
  HEED_CHECK(step >= 1 && step <= kFar, "[dilated] step {}: it must be from 1 to {}", step, kFar);
}

DilatedAttention::DilatedAttention(const Config& config, Generator& generator)
    : MultiHeadAttention(valid(config).multi_head, generator),
      window_{.left = config.left, .right = config.right, .step = config.step} {}

void DilatedAttention::specialise(AttentionSpec& spec, Corner corner) const {
  spec.mask = dilated_window(window_, corner) & spec.mask;
}

}  // namespace heed
