#include "heed/attention/positions/axial.h"

#include <cmath>

#include "heed/base/error.h"
#include "heed/nn/init.h"
#include "heed/ops/index.h"
#include "heed/ops/join.h"
#include "heed/tensor/create.h"

namespace heed {

Axial::Axial(const PositionConfig& config, const PositionSizes& sizes, Generator& generator)
    : AddedCode("axial", sizes.embed, config.max_length) {
  check_position("axial", "embed", sizes.embed, 2);
  check_position("axial", "rows", config.rows, 0);
  const auto square =
      static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(config.max_length))));
  const std::int64_t R = config.rows > 0 ? config.rows : square;
  const std::int64_t C = (config.max_length + R - 1) / R;
  const std::int64_t F = config.row_features > 0 ? config.row_features : sizes.embed / 2;
  HEED_CHECK(F < sizes.embed, "[axial] row_features {}: they must be fewer than embed {}", F,
             sizes.embed);
  rows = empty({R, F});
  columns = empty({C, sizes.embed - F});
  for (Tensor* const table : {&rows, &columns}) {
    init::normal(*table, 0.02, generator);
    table->requires_grad();
  }
}

void Axial::visit(ParameterVisitor& visitor) {
  visitor("rows", rows);
  visitor("columns", columns);
}

Tensor Axial::codes(std::int64_t first, std::int64_t count, DType) const {
  const std::int64_t C = columns.size(0);
  Tensor row = empty({count}, DType::i64), column = empty({count}, DType::i64);
  for (std::int64_t i = 0; i < count; ++i) {
    row.mutable_data<std::int64_t>()[i] = (first + i) / C;
    column.mutable_data<std::int64_t>()[i] = (first + i) % C;
  }
  return concat({index_select(rows, 0, row), index_select(columns, 0, column)}, -1);  // [count, E]
}

}  // namespace heed
