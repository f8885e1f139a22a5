// row_intervals: a range of keys for each query.
#include "heed/attention/masks.h"

#include "heed/attention/masks/interval.h"
#include "heed/base/error.h"
#include "heed/tensor/copy.h"

namespace heed {
namespace {

class Listed : public IntervalVisibility<Listed> {
 public:
  Listed(Tensor first, Tensor last) : first_(std::move(first)), last_(std::move(last)) {}
  Interval interval(std::int64_t batch, std::int64_t head, std::int64_t row) const {
    const std::int64_t at = (batch * first_.size(1) + head) * first_.size(2) + row;
    return {first_.data<std::int64_t>()[at], last_.data<std::int64_t>()[at]};
  }

 private:
  Tensor first_, last_;  // [B, H, Tq], contiguous
};

class RowIntervals : public MaskImpl {
 public:
  RowIntervals(const Tensor& first, const Tensor& last)
      : first_(contiguous_copy(first)), last_(contiguous_copy(last)) {}
  std::string name() const override { return "row_intervals"; }
  std::unique_ptr<kernels::Visibility> bind(const kernels::AttentionShape& shape) const override {
    HEED_CHECK(shape.q_starts == nullptr,
               "[attention] row_intervals in a packed call: give each sequence a row of the batch");
    const Shape needed{shape.B, shape.H, shape.Tq};
    HEED_CHECK(first_.shape() == needed, "[attention] row_intervals {}: this call needs {}",
               to_string(first_.shape()), to_string(needed));
    return std::make_unique<Listed>(first_, last_);
  }

 private:
  Tensor first_, last_;
};

}  // namespace

Mask row_intervals(const Tensor& first, const Tensor& last) {
  for (const Tensor* const x : {&first, &last}) {
    HEED_CHECK(x->rank() == 3 && x->dtype() == DType::i64 && x->shape() == first.shape(),
               "[row_intervals] first {} {} and last {} {}: both must be i64 [B, H, Tq]",
               name_of(first.dtype()), to_string(first.shape()), name_of(last.dtype()),
               to_string(last.shape()));
  }
  return make_mask<RowIntervals>(first, last);
}

}  // namespace heed
