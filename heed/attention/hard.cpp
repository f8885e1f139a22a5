#include "heed/attention/hard.h"

#include <memory>

#include "heed/attention/attention.h"
#include "heed/attention/call.h"
#include "heed/attention/masks/interval.h"
#include "heed/attention/operands.h"
#include "heed/base/error.h"
#include "heed/ops/choose.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

class OneKeyVisibility : public IntervalVisibility<OneKeyVisibility> {
 public:
  explicit OneKeyVisibility(Tensor keys) : keys_(std::move(keys)) {}
  Interval interval(std::int64_t batch, std::int64_t head, std::int64_t row) const {
    const std::int64_t at = (batch * keys_.size(1) + head) * keys_.size(2) + row;
    const std::int64_t key = keys_.data<std::int64_t>()[at];
    return {key, key < 0 ? key : key + 1};
  }

 private:
  Tensor keys_;
};

// Each query attends only to its key in `keys` [B, H, Tq], to none if that is negative.
class OneKey : public MaskImpl {
 public:
  explicit OneKey(Tensor keys) : keys_(std::move(keys)) {}
  std::string name() const override { return "one_key"; }
  std::unique_ptr<kernels::Visibility> bind(const kernels::AttentionShape&) const override {
    return std::make_unique<OneKeyVisibility>(keys_);
  }

 private:
  Tensor keys_;
};

}  // namespace

HardAttention hard_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                             const AttentionSpec& spec, RandomStream random) {
  HEED_CHECK(spec.normaliser.name() == softmax_weights().name(),
             "[hard_attention] spec.normaliser is {}: it must be softmax_weights, the default",
             spec.normaliser.name());
  AttentionSpec draw = spec;
  draw.normaliser = hard_weights(random);
  const auto call = AttentionCall::make(q, k, v, check_operands(q, k, v), draw);
  const AttentionCall::Result drawn = AttentionCall::run(call, false);
  const Tensor keys = call->last_keys(drawn);  // [B, H, Tq]

  // From here on only scores matter: the values are one number for each key.
  AttentionSpec all = spec;
  all.reweights.clear();
  all.observers.clear();
  AttentionSpec one = all;
  one.mask = all.mask & make_mask<OneKey>(keys);
  const Tensor nothing = zeros({k.size(0), k.size(1), k.size(2), 1}, q.dtype());
  const Tensor score = attention_with_log_sum_exp(q, k, nothing, one).log_sum_exp;  // [B, H, Tq]
  const Tensor total = attention_with_log_sum_exp(q, k, nothing, all).log_sum_exp;  // [B, H, Tq]
  const Tensor found = greater_equal(keys, zeros({}, DType::i64));
  return {cast(drawn.output, q.dtype()), keys, where(found, score - total, 0.0)};
}

}  // namespace heed
