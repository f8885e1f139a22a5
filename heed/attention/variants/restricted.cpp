#include "heed/attention/variants/restricted.h"

#include "heed/attention/masks.h"
#include "heed/base/error.h"

namespace heed {

void RestrictedConfig::fields(io::Fields& field) {
  multi_head.fields(field);
  field("left", left, "number of earlier positions a position attends to; -1: all", {.min = -1});
  field("right", right, "number of later positions a position attends to; -1: all", {.min = -1});
}

void RestrictedConfig::validate() const {
  multi_head.validate();
  HEED_CHECK(left >= -1 && right >= -1,
             "[restricted] left {}, right {}: give a number of positions, or -1 for all", left,
             right);
}

namespace {

std::int64_t limit(std::int64_t positions) { return positions < 0 ? kUnlimited : positions; }

}  // namespace

RestrictedAttention::RestrictedAttention(const Config& config, Generator& generator)
    : MultiHeadAttention(valid(config).multi_head, generator),
      left_(limit(config.left)),
      right_(limit(config.right)) {}

void RestrictedAttention::specialise(AttentionSpec& spec, Corner corner) const {
  spec.mask = window(left_, right_, corner) & spec.mask;
}

std::optional<std::int64_t> RestrictedAttention::reach() const {
  if (left_ == kUnlimited) return {};
  return left_;
}

}  // namespace heed
