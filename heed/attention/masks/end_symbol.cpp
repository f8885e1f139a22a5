// lengths_by_end_symbol: lengths of sequences that end at a symbol.
#include "heed/attention/masks.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/ops/index.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {

Tensor lengths_by_end_symbol(const Tensor& ids, std::int64_t end, EndSymbol symbol) {
  HEED_CHECK(ids.defined() && ids.rank() == 2, "[lengths_by_end_symbol] ids are {}: give [B, T]",
             ids.defined() ? to_string(ids.shape()) : "undefined");
  visit_index("lengths_by_end_symbol", ids.dtype(), [](auto) {});
  const Tensor all = contiguous_copy(cast_data(ids, DType::i64));  // [B, T]
  const std::int64_t B = all.size(0), T = all.size(1);
  Tensor lengths = empty({B}, DType::i64);  // [B]
  for (std::int64_t b = 0; b < B; ++b) {
    const std::int64_t* const first = all.data<std::int64_t>() + b * T;
    const std::int64_t at = std::find(first, first + T, end) - first;
    lengths.mutable_data<std::int64_t>()[b] = at < T && symbol == EndSymbol::counts ? at + 1 : at;
  }
  return lengths;
}

}  // namespace heed
