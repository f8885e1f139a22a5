#include "heed/ops/classes.h"

#include "heed/base/error.h"
#include "heed/kernels/cross_entropy.h"
#include "heed/ops/index.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

template <typename I>
Classes check_classes(const Tensor& any_targets, std::int64_t classes, std::int64_t ignored) {
  const Tensor targets = contiguous_copy(any_targets);
  Classes result{empty({targets.numel()}, DType::i64)};
  const I* const from = targets.data<I>();
  std::int64_t* const to = result.targets.mutable_data<std::int64_t>();
  for (std::int64_t row = 0; row < targets.numel(); ++row) {
    const std::int64_t target = from[row];
    const bool counts = target != ignored;
    HEED_CHECK(!counts || (target >= 0 && target < classes),
               "[cross_entropy] the target of row {} is {}: it must be a class from 0 to {}, or "
               "ignore_index, which is {}",
               row, target, classes - 1, ignored);
    to[row] = counts ? target : kernels::kIgnoredTarget;
    result.counted += counts ? 1 : 0;
  }
  return result;
}

}  // namespace

Classes classes_of(const Tensor& targets, std::int64_t classes, std::int64_t ignored) {
  HEED_CHECK(targets.dtype() == DType::i64 || targets.dtype() == DType::i32,
             "[cross_entropy] targets are {}: classes are i64 or i32", name_of(targets.dtype()));
  return visit_index("cross_entropy", targets.dtype(), [&](auto zero) {
    return check_classes<decltype(zero)>(targets, classes, ignored);
  });
}

}  // namespace heed
