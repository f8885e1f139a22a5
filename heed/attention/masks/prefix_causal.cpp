// prefix_causal: the mask of a prefix language model.
#include <algorithm>
#include <utility>

#include "heed/attention/masks.h"
#include "heed/attention/masks/interval.h"
#include "heed/attention/masks/query_positions.h"
#include "heed/base/error.h"

namespace heed {
namespace {

class PrefixBand : public IntervalVisibility<PrefixBand> {
 public:
  PrefixBand(const std::vector<std::int64_t>& prefixes, QueryPositions positions)
      : prefixes_(prefixes.begin(), prefixes.end()), positions_(std::move(positions)) {}
  Interval interval(std::int64_t batch, std::int64_t row) const {
    return {0, std::max(positions_(batch, row) + 1, prefixes_[static_cast<std::size_t>(batch)])};
  }

 private:
  ArenaVector<std::int64_t> prefixes_;
  QueryPositions positions_;
};

class PrefixCausal : public MaskImpl {
 public:
  PrefixCausal(std::vector<std::int64_t> prefixes, Corner corner)
      : prefixes_(std::move(prefixes)), corner_(corner) {}
  std::string name() const override { return "prefix_causal"; }
  std::unique_ptr<kernels::Visibility> bind(const kernels::AttentionShape& shape) const override {
    HEED_CHECK(std::ssize(prefixes_) == shape.B,
               "[attention] prefix_causal has {} prefixes, the batch {} sequences: give one for "
               "each",
               prefixes_.size(), shape.B);
    for (std::int64_t b = 0; b < shape.B; ++b) {
      const std::int64_t prefix = prefixes_[static_cast<std::size_t>(b)];
      HEED_CHECK(prefix >= 0 && prefix <= shape.keys(b),
                 "[attention] prefix_causal: prefix {} is {}: it must be from 0 to {}, the number "
                 "of keys",
                 b, prefix, shape.keys(b));
    }
    return std::make_unique<PrefixBand>(prefixes_, QueryPositions(corner_, shape));
  }

 private:
  std::vector<std::int64_t> prefixes_;
  Corner corner_;
};

}  // namespace

Mask prefix_causal(std::vector<std::int64_t> prefixes, Corner corner) {
  return make_mask<PrefixCausal>(std::move(prefixes), corner);
}

}  // namespace heed
