#include "heed/attention/variants/attention_over_attention.h"

#include <algorithm>
#include <limits>

#include "heed/attention/masks.h"
#include "heed/attention/pairs.h"
#include "heed/attention/variants/input_checks.h"
#include "heed/base/error.h"
#include "heed/ops/choose.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"
#include "heed/ops/reduce.h"
#include "heed/ops/softmax.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"

namespace heed {

void AttentionOverAttentionConfig::fields(io::Fields& field) {
  field("embed", embed, "features of query and document", {.min = 1});
}

AttentionOverAttention::AttentionOverAttention(const Config& config, Generator&)
    : config_(config) {}

namespace {

constexpr std::string_view kName = "attention_over_attention";
constexpr double kHidden = -std::numeric_limits<double>::infinity();

// x with zeros after its end, so that padding affects neither result nor gradient.
Tensor trimmed(const Tensor& x, const Tensor& lengths) {
  if (!lengths.defined()) return x;
  return where(unsqueeze(within(lengths, x.size(1)), 2), x, 0.0);  // [B, T, E]
}

void check(const AttentionInput& in, const Tensor& query_lengths, std::int64_t embed) {
  HEED_CHECK(in.memory.defined(),
             "[{}] memory is undefined: x must be the query and memory the document", kName);
  HEED_CHECK(!in.causal, "[{}] causal is given: query and document have no common order; use see",
             kName);
  check_input(kName, in, embed, embed);
  if (query_lengths.defined())
    check_input(kName, {.x = in.x, .lengths = query_lengths}, embed, embed);
}

// The number of words in each document, at least 1, because it is a divisor.
Tensor word_counts(const AttentionInput& in) {
  const DType dtype = in.x.dtype();
  if (!in.lengths.defined()) {
    return scalar(static_cast<double>(std::max<std::int64_t>(in.memory.size(1), 1)), dtype);
  }
  const Tensor counts = maximum(cast(in.lengths, dtype), scalar(1.0, dtype));  // [B]
  return reshape(counts, {in.x.size(0), 1, 1});                                // [B, 1, 1]
}

}  // namespace

Tensor AttentionOverAttention::terms(const AttentionInput& in, const Tensor& query_lengths) const {
  check(in, query_lengths, config_.embed);
  const Tensor query = trimmed(in.x, query_lengths);       // [B, Tq, E]
  const Tensor document = trimmed(in.memory, in.lengths);  // [B, Tk, E]
  Tensor match = matmul(query, transpose(document));       // [B, Tq, Tk]
  const std::int64_t B = match.size(0), Tq = match.size(1), Tk = match.size(2);
  Mask mask = mask_of(in);
  if (query_lengths.defined()) {
    mask = mask & boolean_mask(reshape(within(query_lengths, Tq), {B, 1, Tq, 1}));
  }
  const Tensor seen = dense_mask(mask, {B, 1, Tq, Tk});
  if (seen.defined()) match = where(squeeze(seen, 1), match, kHidden);
  const Tensor alpha = softmax(match, 2);  // [B, Tq, Tk]
  const Tensor beta =
      sum(softmax(match, 1), {2}, {.keep_axes = true}) / word_counts(in);  // [B, Tq, 1]
  return alpha * beta;                                                     // [B, Tq, Tk]
}

Tensor AttentionOverAttention::operator()(const AttentionInput& in) const {
  return (*this)(in, Tensor());
}

Tensor AttentionOverAttention::operator()(const AttentionInput& in,
                                          const Tensor& query_lengths) const {
  const Tensor all = terms(in, query_lengths);  // [B, Tq, Tk]
  if (in.weights != nullptr) *in.weights = unsqueeze(all.detach(), 1);
  return sum(all, {1});  // [B, Tk]
}

Tensor candidate_scores(const Tensor& weights, const Tensor& document_ids,
                        const Tensor& candidates) {
  HEED_CHECK(weights.rank() == 2 && document_ids.shape() == weights.shape(),
             "[candidate_scores] weights are {} and ids {}: both must be [B, Tk]",
             to_string(weights.shape()), to_string(document_ids.shape()));
  HEED_CHECK(candidates.rank() == 2 && candidates.size(0) == weights.size(0),
             "[candidate_scores] candidates are {}: they must be [{}, C]",
             to_string(candidates.shape()), weights.size(0));
  const Tensor stands = equal(unsqueeze(candidates, 2), unsqueeze(document_ids, 1));  // [B, C, Tk]
  return sum(where(stands, unsqueeze(weights, 1), 0.0), {2});                         // [B, C]
}

}  // namespace heed
