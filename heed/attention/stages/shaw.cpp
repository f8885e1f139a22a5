// shaw_keys and shaw_values: relative vectors on keys and values.
#include "heed/attention/stages.h"

#include "heed/attention/stages/distance.h"
#include "heed/base/error.h"
#include "heed/kernels/attention/stages/shaw.h"
#include "heed/ops/view.h"

namespace heed {
namespace {

using kernels::AttentionShape;

// A stage with a table of vectors by distance; the kernel's stage decides what they are added to.
template <template <typename> typename Kernel>
class Shaw : public StageOf<Shaw<Kernel>> {
 public:
  // `features` is D or Dv, the size of the vectors.
  Shaw(const char* name, std::int64_t AttentionShape::*features, Tensor table, Corner corner)
      : name_(name), features_(features), table_(std::move(table)), corner_(corner) {}
  std::string name() const override { return name_; }
  TensorList inputs(const AttentionShape& shape, DType dtype) const override {
    check_parameter(name(), "table", table_, dtype);
    const std::int64_t features = shape.*features_;
    const bool fits = table_.rank() == 2 || (table_.rank() == 3 && table_.size(0) == shape.H);
    HEED_CHECK(fits && table_.size(-1) == features && table_.size(-2) % 2 == 1,
               "[attention] table of {} {}: it must be [2c + 1, {}] or [{}, 2c + 1, {}]", name(),
               to_string(table_.shape()), features, shape.H, features);
    common_shift(name(), corner_, shape);
    return {contiguous(table_)};
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
};

}  // namespace

Modifier shaw_keys(const Tensor& table, Corner corner) {
  return make_stage<Modifier, Shaw<kernels::ShawKeys>>("shaw_keys", &AttentionShape::D, table,
                                                       corner);
}

Reweight shaw_values(const Tensor& table, Corner corner) {
  return make_stage<Reweight, Shaw<kernels::ShawValues>>("shaw_values", &AttentionShape::Dv, table,
                                                         corner);
}

}  // namespace heed
