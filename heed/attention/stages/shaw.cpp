// shaw_keys and shaw_values: relative vectors on keys and values; and the same on a ring.
#include "heed/attention/stages.h"

#include <algorithm>

#include "heed/attention/stages/distance.h"
#include "heed/base/error.h"
#include "heed/kernels/attention/stages/shaw.h"
#include "heed/ops/index.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

using kernels::AttentionShape;

// How the rows of a table are found.
enum class Rows : std::uint8_t {
  clipped,   // clip(distance, -c, c) + c
  circular,  // distance mod the number of rows
};

// A table with a row for each distance from -c to c, the greatest of a call, from a circular one.
Tensor unrolled(const Tensor& table, const AttentionShape& shape, std::int64_t shift) {
  const std::int64_t n = table.size(-2);
  const std::int64_t c = std::max<std::int64_t>({shape.Tq - 1 + shift, shape.Tk - 1 - shift, 0});
  Tensor rows = empty({2 * c + 1}, DType::i64);
  for (std::int64_t d = -c; d <= c; ++d) {
    rows.mutable_data<std::int64_t>()[d + c] = (d % n + n) % n;
  }
  return index_select(table, table.rank() - 2, rows);  // [2c + 1, D] or [H, 2c + 1, D]
}

// A stage with a table of vectors by distance; the kernel's stage decides what they are added to.
template <template <typename> typename Kernel>
class Shaw : public StageOf<Shaw<Kernel>> {
 public:
  // `features` is D or Dv, the size of the vectors.
  Shaw(const char* name, std::int64_t AttentionShape::*features, Tensor table, Corner corner,
       Rows rows = Rows::clipped)
      : name_(name), features_(features), table_(std::move(table)), corner_(corner), rows_(rows) {}
  std::string name() const override { return name_; }
  TensorList inputs(const AttentionShape& shape, DType dtype) const override {
    check_parameter(name(), "table", table_, dtype);
    const std::int64_t features = shape.*features_;
    const bool fits = table_.rank() == 2 || (table_.rank() == 3 && table_.size(0) == shape.H);
    const bool circular = rows_ == Rows::circular;
    HEED_CHECK(fits && table_.size(-1) == features &&
                   (circular ? table_.size(-2) > 0 : table_.size(-2) % 2 == 1),
               "[attention] table of {} {}: it must be [{}, {}] or [{}, {}, {}]", name(),
               to_string(table_.shape()), circular ? "n" : "2c + 1", features, shape.H,
               circular ? "n" : "2c + 1", features);
    const std::int64_t shift = common_shift(name(), corner_, shape);
    return {contiguous(circular ? unrolled(table_, shape, shift) : table_)};
  }
  template <typename T>
  TileStagePtr<T> make(const StageBinding& to) const {
    const Tensor& vectors = to.inputs[0];
    kernels::RelativeTable<T> table;
    table.values = to.input<T>(0);
    table.features = vectors.size(-1);
    table.clip = vectors.size(-2) / 2;
    table.head_stride = vectors.rank() == 3 ? vectors.size(1) * vectors.size(2) : 0;
    table.gradient = to.gradient<T>(0);
    table.first_query = common_shift(name(), corner_, to.shape);
    return std::make_unique<Kernel<T>>(table);
  }

 private:
  const char* name_;
  std::int64_t AttentionShape::*features_;
  Tensor table_;
  Corner corner_;
  Rows rows_;
};

}  // namespace

Modifier shaw_keys(const Tensor& table, Corner corner) {
  return make_stage<Modifier, Shaw<kernels::ShawKeys>>("shaw_keys", &AttentionShape::D, table,
                                                       corner);
}

Modifier circular_keys(const Tensor& table, Corner corner) {
  return make_stage<Modifier, Shaw<kernels::ShawKeys>>("circular_keys", &AttentionShape::D, table,
                                                       corner, Rows::circular);
}

Reweight circular_values(const Tensor& table, Corner corner) {
  return make_stage<Reweight, Shaw<kernels::ShawValues>>("circular_values", &AttentionShape::Dv,
                                                         table, corner, Rows::circular);
}

Reweight shaw_values(const Tensor& table, Corner corner) {
  return make_stage<Reweight, Shaw<kernels::ShawValues>>("shaw_values", &AttentionShape::Dv, table,
                                                         corner);
}

}  // namespace heed
