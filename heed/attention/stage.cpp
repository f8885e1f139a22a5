#include "heed/attention/stage.h"

#include "heed/base/error.h"

namespace heed {

void check_parameter(std::string_view stage, const char* what, const Tensor& x, DType dtype) {
  HEED_CHECK(x.defined(), "[attention] {} of {} is an undefined tensor", what, stage);
  HEED_CHECK(x.dtype() == dtype,
             "[attention] {} of {} is {}, this call computes in {}: use cast(x, DType::{})", what,
             stage, name_of(x.dtype()), name_of(dtype), name_of(dtype));
}

void check_query_numbers(std::string_view stage, const char* what, const Tensor& x,
                         const kernels::AttentionShape& shape) {
  const bool fits = (x.size(0) == shape.B || x.size(0) == 1) &&
                    (x.size(1) == shape.H || x.size(1) == 1) && x.size(2) == shape.Tq;
  HEED_CHECK(fits, "[attention] {} of {} {} do not broadcast to [B, H, Tq] = {}", what, stage,
             to_string(x.shape()), to_string(Shape({shape.B, shape.H, shape.Tq})));
}

}  // namespace heed
