#include "heed/attention/entropy.h"

#include <cmath>
#include <limits>

#include "heed/attention/attention.h"
#include "heed/attention/stages/score_mod.h"
#include "heed/base/error.h"
#include "heed/ops/choose.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

// -p log p of a score, with log p = score - log_sum_exp of its row.
struct Surprise {
  Tensor log_sum_exp;  // [B, H, Tq] in f64, contiguous

  template <typename S>
  S operator()(S score, int b, int h, int i, int /*j*/) const {
    using std::exp;
    const std::int64_t row = (b * log_sum_exp.size(1) + h) * log_sum_exp.size(2) + i;
    const S log_p = score - log_sum_exp.data<double>()[row];
    // e^-1000 is 0, and 0 times -infinity must be 0, too.
    return log_p > -1000.0 ? -exp(log_p) * log_p : S{0};
  }
};

}  // namespace

Tensor attention_entropy(const Tensor& q, const Tensor& k, const AttentionSpec& spec) {
  HEED_CHECK(spec.normaliser.name() == softmax_weights().name(),
             "[attention_entropy] spec.normaliser is {}: it must be softmax_weights, the default",
             spec.normaliser.name());
  AttentionSpec rows = spec;
  rows.reweights.clear();
  rows.observers.clear();
  const Tensor one = ones({k.size(0), k.size(1), k.size(2), 1}, q.dtype());      // [B, G, Tk, 1]
  const Tensor total = attention_with_log_sum_exp(q, k, one, rows).log_sum_exp;  // [B, H, Tq]
  const Tensor nothing = scalar(-std::numeric_limits<double>::infinity(), total.dtype());
  const Tensor known = where(greater(total.detach(), nothing), total, 0.0);  // [B, H, Tq]

  AttentionSpec terms = rows;
  terms.normaliser = no_normaliser();
  terms.modifiers.push_back(
      score_mod(Surprise{contiguous_copy(cast_data(known.detach(), DType::f64))}));
  const Tensor sum = squeeze(attention(q, k, one, terms), -1);  // [B, H, Tq]
  // The gradient of the sum treats log-sum-exp as a constant. The derivative with respect to it is
  // sum_j p (log p + 1) = 1 - H, which is added here with a value of 0.
  return sum + (1.0 - sum.detach()) * (known - known.detach());
}

}  // namespace heed
