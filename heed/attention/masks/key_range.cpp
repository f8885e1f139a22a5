// key_range: one range of keys for every query.
#include "heed/attention/masks.h"

#include "heed/attention/masks/interval.h"

namespace heed {
namespace {

class Range : public IntervalVisibility<Range> {
 public:
  explicit Range(Interval range) : range_(range) {}
  Interval interval(std::int64_t, std::int64_t) const { return range_; }

 private:
  Interval range_;
};

class KeyRange : public MaskImpl {
 public:
  explicit KeyRange(Interval range) : range_(range) {}
  std::string name() const override { return "key_range"; }
  std::unique_ptr<kernels::Visibility> bind(const kernels::AttentionShape&) const override {
    return std::make_unique<Range>(range_);
  }

 private:
  Interval range_;
};

}  // namespace

Mask key_range(std::int64_t first, std::int64_t last) {
  return make_mask<KeyRange>(Interval{first, last});
}

}  // namespace heed
