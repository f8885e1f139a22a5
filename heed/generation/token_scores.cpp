#include "heed/generation/token_scores.h"

#include <algorithm>
#include <utility>

#include "heed/base/error.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/view.h"

namespace heed {
namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

std::span<const std::int32_t> BannedTokens::of(std::int64_t row) const {
  return std::span(tokens).subspan(index(starts[index(row)]),
                                   index(starts[index(row + 1)] - starts[index(row)]));
}

std::span<const std::int32_t> BestTokens::of(std::int64_t row) const {
  return std::span(tokens).subspan(index(row * k), index(k));
}

TokenScores::TokenScores(const Tensor& scores) : scores_(contiguous_copy(scores)) {
  HEED_CHECK(scores.rank() == 2 && scores.dtype() == DType::f32,
             "[search] the model gave scores {} of {}: they must be [rows, V] of f32",
             to_string(scores.shape()), name_of(scores.dtype()));
}

TokenScores::TokenScores(Tensor states, const OutputLayer& output)
    : states_(std::move(states)), output_(&output) {}

std::int64_t TokenScores::rows() const { return (output_ ? states_ : scores_).size(0); }

std::int64_t TokenScores::vocabulary() const {
  return output_ ? output_->weight.out() : scores_.size(1);
}

const Tensor& TokenScores::all() {
  if (!scores_.defined()) scores_ = contiguous_copy((*output_)(states_));  // [rows, V]
  return scores_;
}

std::span<const float> TokenScores::row(std::int64_t row) {
  return all().values<float>().subspan(index(row * vocabulary()), index(vocabulary()));
}

float TokenScores::of(std::int64_t row, std::int32_t token) {
  if (scores_.defined()) return this->row(row)[static_cast<std::size_t>(token)];
  const Tensor score = output_->rows(view::slice(states_, 0, row, row + 1), token, token + 1);
  return score.data<float>()[0];
}

void TokenScores::hide(const BannedTokens& banned) {
  Tensor hidden = clone_data(all());
  float* const scores = hidden.mutable_data<float>();
  for (std::int64_t row = 0; row < rows(); ++row) {
    for (const std::int32_t token : banned.of(row)) {
      scores[row * vocabulary() + token] = -std::numeric_limits<float>::infinity();
    }
  }
  scores_ = hidden;
}

void TokenScores::find_best(std::int64_t k, const BannedTokens& banned, BestTokens& best) {
  best.k = k;
  best.tokens.resize(index(rows() * k));
  best.logits.resize(index(rows() * k));
  best.normalisers.resize(index(rows()));
  if (!scores_.defined() && output_->can_find_likeliest()) {
    return output_->find_likeliest(states_, {.k = k,
                                             .banned_starts = banned.starts.data(),
                                             .banned = banned.tokens.data(),
                                             .renormalised = banned.renormalised,
                                             .normalisers = best.normalisers.data(),
                                             .tokens = best.tokens.data(),
                                             .logits = best.logits.data()});
  }
  if (banned.renormalised) hide(banned);
  kernels::likeliest(kernels::LikeliestCall<float>{.rows = {rows(), vocabulary()},
                                                   .k = k,
                                                   .logits = all().data<float>(),
                                                   .banned_starts = banned.starts.data(),
                                                   .banned = banned.tokens.data(),
                                                   .normalisers = best.normalisers.data(),
                                                   .tokens = best.tokens.data()});
  for (std::size_t i = 0; i < best.tokens.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i) / k;
    const std::int32_t token = best.tokens[i];
    best.logits[i] = token == kernels::kNoToken ? -std::numeric_limits<float>::infinity()
                                                : row(at)[static_cast<std::size_t>(token)];
  }
}

}  // namespace heed
