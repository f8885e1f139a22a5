// alibi: linear biases by distance, and the slopes of the paper.
#include "heed/attention/stages.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "heed/attention/stages/distance.h"
#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

using kernels::AttentionShape;

class Alibi : public DistanceStage {
 public:
  Alibi(Tensor slopes, Corner corner) : slopes_(std::move(slopes)), corner_(corner) {}
  std::string name() const override { return "alibi"; }
  TensorList inputs(const AttentionShape& shape, DType dtype) const override {
    check_parameter(name(), "slopes", slopes_, dtype);
    HEED_CHECK(slopes_.shape() == Shape({shape.H}),
               "[attention] slopes of alibi {}: there must be one for each of {} heads",
               to_string(slopes_.shape()), shape.H);
    const Distances range(shape, common_shift(name(), corner_, shape));
    Tensor distances = empty({1, std::max<std::int64_t>(range.count, 0)}, dtype);
    visit_float("alibi", dtype, [&](auto zero) {
      using T = decltype(zero);
      for (std::int64_t n = 0; n < range.count; ++n) {
        distances.mutable_data<T>()[n] = -static_cast<T>(std::abs(range.least + n));
      }
    });
    return {unsqueeze(slopes_, 1) * distances};  // [H, Tq + Tk - 1]
  }

 private:
  Tensor slopes_;
  Corner corner_;
};

}  // namespace

Tensor alibi_slopes(std::int64_t H, DType dtype) {
  HEED_CHECK(H >= 1, "[alibi_slopes] {} heads: there must be at least one", H);
  const auto below = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(H)));
  std::vector<double> slopes;
  for (std::int64_t h = 1; h <= H; ++h) {
    const double step =
        h <= below ? static_cast<double>(h) / static_cast<double>(below)
                   : static_cast<double>(2 * (h - below) - 1) / static_cast<double>(2 * below);
    slopes.push_back(std::exp2(-8.0 * step));
  }
  return cast_data(from_values<double>(slopes, {H}), dtype);
}

Modifier alibi(const Tensor& slopes, Corner corner) {
  return make_stage<Modifier, Alibi>(slopes, corner);
}

}  // namespace heed
