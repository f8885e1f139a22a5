#include "heed/attention/positions/alibi.h"

#include "heed/attention/stages.h"
#include "heed/attention/stages/distance.h"

namespace heed {
namespace {

// Makes the slopes for the heads and the dtype of each call.
class PaperSlopes : public DistanceStage {
 public:
  explicit PaperSlopes(Corner corner) : corner_(corner) {}

  std::string name() const override { return "alibi"; }
  TensorList inputs(const kernels::AttentionShape& shape, DType dtype) const override {
    return alibi(alibi_slopes(shape.H, dtype), corner_).impl()->inputs(shape, dtype);
  }

 private:
  Corner corner_;
};

}  // namespace

void AlibiSlopes::modify(AttentionSpec& spec, Corner corner) const {
  spec.modifiers.push_back(make_stage<Modifier, PaperSlopes>(corner));
}

}  // namespace heed
