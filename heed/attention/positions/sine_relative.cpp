#include "heed/attention/positions/sine_relative.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "heed/attention/positions/sine_code.h"
#include "heed/attention/stages.h"
#include "heed/attention/stages/distance.h"

namespace heed {
namespace {

// Shaw's keys with a table of only the distances that occur in a call, because the kernel
// multiplies queries by all rows of the table.
class SineKeys : public StageImpl {
 public:
  SineKeys(std::shared_ptr<const CodeTable> table, Corner corner)
      : table_(std::move(table)), corner_(corner) {}

  std::string name() const override { return "sine_relative"; }
  TensorList inputs(const kernels::AttentionShape& shape, DType dtype) const override {
    const Distances range(shape, common_shift(name(), corner_, shape));
    const std::int64_t farthest =
        std::max(std::abs(range.least), std::abs(range.least + range.count - 1));
    const Tensor table = table_->rows(-farthest, 2 * farthest + 1, dtype);  // [2c + 1, D]
    return shaw_keys(table, corner_).impl()->inputs(shape, dtype);
  }
  TileStagePtr<float> bind_f32(const StageBinding& to) const override {
    return shaw_keys(to.inputs[0], corner_).impl()->bind_f32(to);
  }
  TileStagePtr<double> bind_f64(const StageBinding& to) const override {
    return shaw_keys(to.inputs[0], corner_).impl()->bind_f64(to);
  }

 private:
  std::shared_ptr<const CodeTable> table_;
  Corner corner_;
};

}  // namespace

SineRelative::SineRelative(const PositionConfig& config, const PositionSizes& sizes) {
  const std::int64_t L = config.max_length;
  check_position("sine_relative", "max_length", L);
  check_position("sine_relative", "head", sizes.head);
  // Shaw's tables are ordered by j - i, the negative of what PE takes.
  table_ = std::make_shared<const CodeTable>(
      1 - L, L, sizes.head,
      [code = sine_code(sizes.head, L)](std::int64_t distance, std::int64_t f) {
        return code(-distance, f);
      });
}

void SineRelative::modify(AttentionSpec& spec, Corner corner) const {
  spec.modifiers.push_back(make_stage<Modifier, SineKeys>(table_, corner));
}

}  // namespace heed
