// t5_bias: T5's bias by buckets of distances.
#include "heed/attention/stages.h"

#include <algorithm>
#include <cmath>

#include "heed/attention/stages/distance.h"
#include "heed/base/error.h"
#include "heed/ops/index.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

using kernels::AttentionShape;

class T5Bias : public DistanceStage {
 public:
  T5Bias(Tensor table, T5Options options) : table_(std::move(table)), options_(options) {}
  std::string name() const override { return "t5_bias"; }
  TensorList inputs(const AttentionShape& shape, DType dtype) const override {
    check_parameter(name(), "table", table_, dtype);
    HEED_CHECK(table_.size(1) == shape.H,
               "[attention] table of t5_bias {}: it must be [buckets, H], q has {} heads",
               to_string(table_.shape()), shape.H);
    const Distances range(shape, common_shift(name(), options_.corner, shape));
    Tensor buckets = empty({std::max<std::int64_t>(range.count, 0)}, DType::i64);
    for (std::int64_t n = 0; n < range.count; ++n) {
      buckets.mutable_data<std::int64_t>()[n] =
          t5_bucket(-(range.least + n), table_.size(0), options_);
    }
    const Tensor rows = index_select(table_, 0, buckets);  // [Tq + Tk - 1, H]
    return {contiguous(transpose(rows))};                  // [H, Tq + Tk - 1]
  }

 private:
  Tensor table_;
  T5Options options_;
};

}  // namespace

std::int64_t t5_bucket(std::int64_t distance, std::int64_t buckets, const T5Options& options) {
  std::int64_t first = 0;
  if (options.bidirectional) {
    buckets /= 2;
    if (distance > 0) first = buckets;
    distance = std::abs(distance);
  } else {
    distance = std::max<std::int64_t>(-distance, 0);
  }
  const std::int64_t exact = buckets / 2;
  if (distance < exact) return first + distance;
  // In float, as the models were trained: double would round differently at some bucket borders.
  const float ratio = std::log(static_cast<float>(distance) / static_cast<float>(exact)) /
                      static_cast<float>(std::log(static_cast<double>(options.max_distance) /
                                                  static_cast<double>(exact)));
  const auto step = static_cast<std::int64_t>(ratio * static_cast<float>(buckets - exact));
  return first + std::min(exact + step, buckets - 1);
}

Modifier t5_bias(const Tensor& table, T5Options options) {
  HEED_CHECK(table.rank() == 2, "[t5_bias] table {}: it must be [buckets, H]",
             to_string(table.shape()));
  const std::int64_t least = options.bidirectional ? 4 : 2;
  HEED_CHECK(table.size(0) >= least && table.size(0) % 2 == 0,
             "[t5_bias] {} buckets: there must be an even number of them, at least {}",
             table.size(0), least);
  const std::int64_t exact = table.size(0) / least;
  HEED_CHECK(options.max_distance > exact,
             "[t5_bias] max_distance {}: with {} buckets it must be more than {}",
             options.max_distance, table.size(0), exact);
  return make_stage<Modifier, T5Bias>(table, options);
}

}  // namespace heed
