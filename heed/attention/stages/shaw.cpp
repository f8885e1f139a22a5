// shaw_keys and shaw_values: relative vectors on keys and values.
#include "heed/attention/stages.h"

#include "heed/attention/stages/distance.h"
#include "heed/base/error.h"
#include "heed/kernels/attention/stages/shaw.h"
#include "heed/ops/view.h"

namespace heed {
namespace {

using kernels::AttentionShape;

// The common part of both stages: the table and the position of query 0.
template <typename Self>
class Shaw : public StageOf<Self> {
 public:
  Shaw(Tensor table, Corner corner) : table_(std::move(table)), corner_(corner) {}
  std::string name() const override { return Self::kName; }
  TensorList inputs(const AttentionShape& shape, DType dtype) const override {
    check_parameter(name(), "table", table_, dtype);
    const std::int64_t features = Self::features(shape);
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
    return Self::stage(table);
  }

 private:
  Tensor table_;
  Corner corner_;
};

class ShawKeys : public Shaw<ShawKeys> {
 public:
  using Shaw::Shaw;
  static constexpr const char* kName = "shaw_keys";
  static std::int64_t features(const AttentionShape& shape) { return shape.D; }
  template <typename T>
  static TileStagePtr<T> stage(const kernels::RelativeTable<T>& table) {
    return std::make_unique<kernels::ShawKeys<T>>(table);
  }
};

class ShawValues : public Shaw<ShawValues> {
 public:
  using Shaw::Shaw;
  static constexpr const char* kName = "shaw_values";
  static std::int64_t features(const AttentionShape& shape) { return shape.Dv; }
  template <typename T>
  static TileStagePtr<T> stage(const kernels::RelativeTable<T>& table) {
    return std::make_unique<kernels::ShawValues<T>>(table);
  }
};

}  // namespace

Modifier shaw_keys(const Tensor& table, Corner corner) {
  return make_stage<Modifier, ShawKeys>(table, corner);
}

Reweight shaw_values(const Tensor& table, Corner corner) {
  return make_stage<Reweight, ShawValues>(table, corner);
}

}  // namespace heed
