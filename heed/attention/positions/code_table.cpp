#include "heed/attention/positions/code_table.h"

#include <utility>

#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"

namespace heed {

CodeTable::CodeTable(std::int64_t begin, std::int64_t end, std::int64_t features, Value value)
    : begin_(begin),
      features_(features),
      value_(std::move(value)),
      kept_(make(begin, end - begin, DType::f32)) {}

Tensor CodeTable::rows(std::int64_t first, std::int64_t count, DType dtype) const {
  const std::int64_t at = first - begin_;
  if (dtype == DType::f32 && at >= 0 && at + count <= kept_.size(0)) {
    return view::slice(kept_, 0, at, at + count);  // [count, features]
  }
  return make(first, count, dtype);
}

Tensor CodeTable::rows_of_each(FirstPositions first, std::int64_t B, std::int64_t count,
                               DType dtype) const {
  if (first.is_common()) return view::unsqueeze(rows(first.of(0), count, dtype), 0);
  Tensor all = empty({B, count, features_}, dtype);
  for (std::int64_t b = 0; b < B; ++b) {
    Tensor to = view::slice(all, 0, b, b + 1);
    copy_into(to, view::unsqueeze(rows(first.of(b), count, dtype), 0));  // [1, count, features]
  }
  return all;
}

Tensor CodeTable::make(std::int64_t first, std::int64_t count, DType dtype) const {
  Tensor table = empty({count, features_}, dtype);  // [count, features]
  visit_float("position", dtype, [&](auto zero) {
    using T = decltype(zero);
    T* to = table.mutable_data<T>();
    for (std::int64_t position = first; position < first + count; ++position) {
      for (std::int64_t f = 0; f < features_; ++f) *to++ = static_cast<T>(value_(position, f));
    }
  });
  return table;
}

}  // namespace heed
