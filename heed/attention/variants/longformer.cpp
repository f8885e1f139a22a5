#include "heed/attention/variants/longformer.h"

#include <numeric>

#include "heed/attention/masks.h"
#include "heed/base/error.h"

namespace heed {

void LongformerConfig::fields(io::Fields& field) {
  multi_head.fields(field);
  field("left", left, "number of earlier positions a position attends to", {.min = 0});
  field("right", right, "number of later positions a position attends to", {.min = 0});
  field("global_first", global_first, "number of global positions at the start", {.min = 0});
  field("global_positions", global_positions, "other global positions, counted from 0", {.min = 0});
}

void LongformerConfig::validate() const {
  multi_head.validate();
  HEED_CHECK(left >= 0 && right >= 0 && global_first >= 0,
             "[longformer] left {}, right {}, global_first {}: none may be negative", left, right,
             global_first);
}

LongformerAttention::LongformerAttention(const Config& config, Generator& generator)
    : MultiHeadAttention(valid(config).multi_head, generator),
      left_(config.left),
      right_(config.right),
      globals_(static_cast<std::size_t>(config.global_first)) {
  std::iota(globals_.begin(), globals_.end(), 0);
  globals_.insert(globals_.end(), config.global_positions.begin(), config.global_positions.end());
}

void LongformerAttention::specialise(AttentionSpec& spec, Corner corner) const {
  spec.mask = (window(left_, right_, corner) | global_positions(globals_, corner)) & spec.mask;
}

}  // namespace heed
