#include "heed/attention/stage.h"

#include "heed/base/error.h"

namespace heed {

void check_parameter(std::string_view stage, const char* what, const Tensor& x, DType dtype) {
  HEED_CHECK(x.defined(), "[attention] {} of {} is an undefined tensor", what, stage);
  HEED_CHECK(x.dtype() == dtype,
             "[attention] {} of {} is {}, this call computes in {}: use cast(x, DType::{})", what,
             stage, name_of(x.dtype()), name_of(dtype), name_of(dtype));
}

}  // namespace heed
