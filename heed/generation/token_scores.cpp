#include "heed/generation/token_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/base/threads.h"
#include "heed/kernels/cross_entropy.h"
#include "heed/ops/index.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"

namespace heed {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

// The place of a token among candidates, or none.
std::optional<std::int32_t> place_of(const Candidates& candidates, std::int32_t token) {
  const auto found = std::ranges::lower_bound(candidates.tokens, token);
  if (found == candidates.tokens.end() || *found != token) return {};
  return static_cast<std::int32_t>(found - candidates.tokens.begin());
}

// Operations per token of a mixture, roughly.
constexpr std::int64_t kMixCost = 4;

struct MixedScores {
  float gate;
  float log_sum_exp;                     // of the logits
  std::span<const float> logits;         // [V]
  std::span<const float> weights;        // of the source's positions, and of padding
  std::span<const std::int32_t> source;  // their tokens
};

// log(g softmax(logits) + (1 - g) copied) of every token, into `to`, which is -inf from V on.
void mix_row(const MixedScores& row, std::span<float> to) {
  const auto z = static_cast<double>(row.gate);
  const double log_rest = std::min(z, 0.0) - z - std::log1p(std::exp(-std::abs(z)));
  const double log_written = log_rest + z;
  const double offset = log_written - static_cast<double>(row.log_sum_exp);
  for (std::size_t i = 0; i < row.logits.size(); ++i) {
    to[i] = static_cast<float>(static_cast<double>(row.logits[i]) + offset);
  }
  // Words that the source has twice: each position adds its share.
  for (std::size_t j = 0; j < row.source.size(); ++j) {
    if (!(row.weights[j] > 0.0f)) continue;
    float& score = to[static_cast<std::size_t>(row.source[j])];
    const double copied = log_rest + std::log(static_cast<double>(row.weights[j]));
    const double greater = std::max(static_cast<double>(score), copied);
    const double smaller = std::min(static_cast<double>(score), copied);
    score = static_cast<float>(greater + std::log1p(std::exp(smaller - greater)));
  }
}

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

TokenScores::TokenScores(Tensor states, const OutputLayer& output, CopyScores copies)
    : states_(std::move(states)), output_(&output), copies_(std::move(copies)) {}

std::int64_t TokenScores::rows() const { return (output_ ? states_ : scores_).size(0); }

std::int64_t TokenScores::vocabulary() const {
  if (scores_.defined()) return scores_.size(1);
  std::int64_t words = 0;
  if (copies_) {
    for (const auto& source : copies_->sources) {
      words = std::max<std::int64_t>(words, std::ssize(source->words));
    }
  }
  return output_->weight.out() + words;
}

TokenScores TokenScores::select(std::span<const std::int64_t> rows) const {
  const Tensor ids = from_values(rows, {std::ssize(rows)});
  TokenScores chosen = *this;
  for (Tensor* const x : {&chosen.scores_, &chosen.states_}) {
    if (x->defined()) *x = index_select(*x, 0, ids);
  }
  if (copies_) {
    chosen.copies_->gate = index_select(copies_->gate, 0, ids);
    chosen.copies_->weights = index_select(copies_->weights, 0, ids);
    chosen.copies_->sources.clear();
    for (const std::int64_t row : rows) {
      chosen.copies_->sources.push_back(copies_->sources[index(row)]);
    }
  }
  return chosen;
}

TokenScores TokenScores::within(std::shared_ptr<const Candidates> candidates) const {
  HEED_ASSERT(!copies_);
  TokenScores chosen = *this;
  chosen.candidates_ = std::move(candidates);
  if (scores_.defined()) chosen.scores_ = chosen.scattered();
  return chosen;
}

void TokenScores::compute() { scores_ = all(); }

Tensor TokenScores::all() const {
  if (scores_.defined()) return scores_;  // [rows, V]
  if (copies_) return mixed();
  return candidates_ ? scattered() : contiguous_copy((*output_)(states_));
}

Tensor TokenScores::scattered() const {
  const std::vector<std::int32_t>& tokens = candidates_->tokens;
  const std::int64_t count = std::ssize(tokens);
  const Tensor from = scores_.defined() ? scores_  // [rows, V], or [rows, candidates]
                                        : contiguous_copy((*candidates_->output)(states_));
  Tensor to = full({rows(), vocabulary()}, kNever);
  float* const scores = to.mutable_data<float>();
  for (std::int64_t row = 0; row < rows(); ++row) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int32_t token = tokens[index(i)];
      scores[row * vocabulary() + token] =
          from.data<float>()[scores_.defined() ? row * vocabulary() + token : row * count + i];
    }
  }
  return to;
}

// Every row is computed by itself, over its own positions in their order.
Tensor TokenScores::mixed() const {
  const std::int64_t V = output_->weight.out(), wide = vocabulary();
  const Tensor logits = contiguous_copy((*output_)(states_));  // [rows, V]
  const Tensor weights = contiguous_copy(copies_->weights);    // [rows, S]
  std::vector<float> losses(index(rows())), log_sum_exp(index(rows()));
  const std::vector<std::int64_t> targets(index(rows()), 0);  // only the sums are used
  kernels::cross_entropy(kernels::CrossEntropyForward<float>{.rows = {rows(), V},
                                                             .smoothing = 0.0,
                                                             .logits = logits.data<float>(),
                                                             .targets = targets.data(),
                                                             .loss = losses.data(),
                                                             .log_sum_exp = log_sum_exp.data()});
  Tensor to = full({rows(), wide}, kNever);
  parallel_for(rows(), kMixCost * V, [&](std::int64_t row) {
    const float z = copies_->gate.values<float>()[index(row)];
    mix_row({.gate = z,
             .log_sum_exp = log_sum_exp[index(row)],
             .logits = logits.values<float>().subspan(index(row * V), index(V)),
             .weights = weights.values<float>().subspan(index(row * weights.size(1)),
                                                        index(weights.size(1))),
             .source = copies_->sources[index(row)]->ids},
            to.mutable_values<float>().subspan(index(row * wide), index(wide)));
  });
  return to;
}

std::span<const float> TokenScores::row(std::int64_t row) const {
  HEED_ASSERT(scores_.defined());
  return scores_.values<float>().subspan(index(row * vocabulary()), index(vocabulary()));
}

float TokenScores::of(std::int64_t row, std::int32_t token) const {
  const NoGrad no_grad;  // a bias may be a parameter
  if (scores_.defined()) return this->row(row)[static_cast<std::size_t>(token)];
  const Tensor state = view::slice(states_, 0, row, row + 1);  // [1, E]
  if (!candidates_) return output_->score(state, token);
  const std::optional<std::int32_t> place = place_of(*candidates_, token);
  return place ? candidates_->output->score(state, *place) : kNever;
}

void TokenScores::hide(const BannedTokens& banned) {
  Tensor hidden = clone_data(scores_);
  float* const scores = hidden.mutable_data<float>();
  for (std::int64_t row = 0; row < rows(); ++row) {
    for (const std::int32_t token : banned.of(row)) {
      scores[row * vocabulary() + token] = kNever;
    }
  }
  scores_ = hidden;
}

void TokenScores::find_best_candidates(std::int64_t k, const BannedTokens& banned,
                                       BestTokens& best) const {
  BannedTokens places{.renormalised = banned.renormalised};
  for (std::int64_t row = 0; row < rows(); ++row) {
    for (const std::int32_t token : banned.of(row)) {
      if (const auto place = place_of(*candidates_, token)) places.tokens.push_back(*place);
    }
    places.starts.push_back(std::ssize(places.tokens));
  }
  TokenScores(states_, *candidates_->output).find_best(k, places, best);
  for (std::int32_t& token : best.tokens) {
    if (token != kernels::kNoToken) token = candidates_->tokens[index(token)];
  }
}

void TokenScores::find_best(std::int64_t k, const BannedTokens& banned, BestTokens& best) {
  if (!scores_.defined() && candidates_ && candidates_->output->can_find_likeliest()) {
    return find_best_candidates(k, banned, best);
  }
  best.k = k;
  best.tokens.resize(index(rows() * k));
  best.logits.resize(index(rows() * k));
  best.normalisers.resize(index(rows()));
  if (!scores_.defined() && !candidates_ && !copies_ && output_->can_find_likeliest()) {
    return output_->find_likeliest(states_, {.k = k,
                                             .banned_starts = banned.starts.data(),
                                             .banned = banned.tokens.data(),
                                             .renormalised = banned.renormalised,
                                             .normalisers = best.normalisers.data(),
                                             .tokens = best.tokens.data(),
                                             .logits = best.logits.data()});
  }
  compute();
  if (banned.renormalised) hide(banned);
  kernels::likeliest(kernels::LikeliestCall<float>{.rows = {rows(), vocabulary()},
                                                   .k = k,
                                                   .logits = scores_.data<float>(),
                                                   .banned_starts = banned.starts.data(),
                                                   .banned = banned.tokens.data(),
                                                   .normalisers = best.normalisers.data(),
                                                   .tokens = best.tokens.data()});
  for (std::size_t i = 0; i < best.tokens.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i) / k;
    const std::int32_t token = best.tokens[i];
    best.logits[i] = token == kernels::kNoToken ? kNever : row(at)[static_cast<std::size_t>(token)];
  }
}

}  // namespace heed
