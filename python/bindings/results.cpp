#include "python/bindings/results.h"

#include "heed/attention/attention.h"
#include "heed/attention/stages/observers.h"
#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/tensor/copy.h"
#include "python/bindings/arrange.h"
#include "python/bindings/python_error.h"

namespace heed::python {
namespace {

// The number of modifiers before a stage of scores; none: all of them, and the mask.
std::optional<std::size_t> modifiers_before(const std::string& stage, std::size_t own) {
  if (stage == "raw") return 0;
  if (stage == "modified") return own;
  HEED_CHECK(stage == "masked",
             "[attention] return_scores '{}': the stages are 'raw', 'modified' and 'masked'",
             stage);
  return {};
}

// Weights and scores are observed in f32 and returned in the precision of the array.
nb::object give_observed(const Tensor& result, const Shape& lead, const Array& like) {
  return give(cast_data(result, like.dtype), lead, like);
}

}  // namespace

Wanted wanted_of(bool weights, bool lse, nb::handle scores, bool present) {
  Wanted wanted{.weights = weights, .log_sum_exp = lse, .scores = {}, .present = present};
  if (scores.is_none()) return wanted;
  if (!nb::isinstance<nb::str>(scores)) {
    throw_type_error("return_scores: {} is no name of a stage", type_of(scores));
  }
  wanted.scores = nb::cast<nb::str>(scores).c_str();
  return wanted;
}

// Scores before the mask cover all pairs, but hidden ones are not computed: they need a separate
// call.
void observe(Request::Prepared& ready, const Wanted& wanted, Seen& seen) {
  if (wanted.weights) ready.spec.observers.push_back(observe_weights(seen.weights));
  if (wanted.log_sum_exp) ready.spec.observers.push_back(observe_log_sum_exp(seen.log_sum_exp));
  if (!wanted.scores) return;
  const auto after = modifiers_before(*wanted.scores, ready.own_modifiers);
  if (!after || ready.spec.mask.everything()) {
    ready.spec.observers.push_back(observe_scores(seen.scores, {}, after));
    return;
  }
  const NoGrad no_grad;
  AttentionSpec all = ready.spec;
  all.mask = {};
  all.reweights = {};
  all.observers = {observe_scores(seen.scores, {}, after)};
  attention(ready.q, ready.k, ready.v, all);
}

nb::object give(const Tensor& result, const Shape& lead, const Array& like) {
  return to_array(restore(result, lead), like);
}

nb::object gather(nb::object output, const Request& request, const Request::Prepared& ready,
                  const Wanted& wanted, const Seen& seen) {
  if (!wanted.anything()) return output;
  nb::list all;
  all.append(output);
  const Array& like = request.query();
  if (wanted.weights) all.append(give_observed(seen.weights, ready.lead, like));
  if (wanted.log_sum_exp) {
    Array precise = like;  // 16 bits are too few for a log-sum-exp that is used again
    precise.half = false;
    all.append(give(seen.log_sum_exp, ready.lead, precise));
  }
  if (wanted.scores) all.append(give_observed(seen.scores, ready.lead, like));
  if (wanted.present) {  // without a past, they are the caller's own arrays
    const std::span<const Array> given = request.arrays();
    all.append(request.has_past() ? to_array(ready.present_k, like) : nb::borrow(given[1].object));
    all.append(request.has_past() ? to_array(ready.present_v, like) : nb::borrow(given[2].object));
  }
  return nb::tuple(all);
}

}  // namespace heed::python
