// distance_bias: a bias from a table by distance.
#include "heed/attention/stages.h"

#include "heed/attention/stages/distance.h"
#include "heed/base/error.h"
#include "heed/ops/view.h"

namespace heed {
namespace {

using kernels::AttentionShape;

class DistanceBias : public DistanceStage {
 public:
  DistanceBias(Tensor table, std::int64_t zero, Corner corner)
      : table_(std::move(table)), zero_(zero), corner_(corner) {}
  std::string name() const override { return "distance_bias"; }
  TensorList inputs(const AttentionShape& shape, DType dtype) const override {
    check_parameter(name(), "table", table_, dtype);
    HEED_CHECK(table_.rank() == 1 || (table_.rank() == 2 && table_.size(0) == shape.H),
               "[attention] table of distance_bias {}: it must be [length] or [H, length], H = {}",
               to_string(table_.shape()), shape.H);
    const std::int64_t least = zero(shape) - (shape.Tk - 1), most = zero(shape) + shape.Tq - 1;
    HEED_CHECK(shape.Tq == 0 || shape.Tk == 0 || (least >= 0 && most < table_.size(-1)),
               "[attention] table of distance_bias {} with zero = {}: {} queries and {} keys need "
               "indices {} to {}",
               to_string(table_.shape()), zero_, shape.Tq, shape.Tk, least, most);
    return {reshape(contiguous(table_), {-1, table_.size(-1)})};
  }

 protected:
  std::int64_t zero(const AttentionShape& shape) const override {
    return zero_ + common_shift(name(), corner_, shape);
  }

 private:
  Tensor table_;
  std::int64_t zero_;
  Corner corner_;
};

}  // namespace

Modifier distance_bias(const Tensor& table, std::int64_t zero, Corner corner) {
  return make_stage<Modifier, DistanceBias>(table, zero, corner);
}

}  // namespace heed
