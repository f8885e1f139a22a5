// Sampling: each token is drawn from p = softmax(scores / temperature) over the tokens that the
// rules allow, restricted to
//   top_k  the k most probable (Fan et al. 2018), then
//   top_p  of those the smallest set, most probable first, that holds at least the share top_p of
//          their probability (the nucleus, Holtzman et al. 2020), then
//   min_p  of those the ones with at least the share min_p of the greatest probability (Nguyen et
//          al. 2024).
// A draw depends only on the seed, the sentence's stream, the copy and the position: not on the
// batch, nor on the number of copies.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/generation/running_searches.h"

namespace heed {

/// Draws n_best independent results of a sentence, best score first.
std::unique_ptr<SentenceSearch> make_sampler(const SearchSentence& sentence);

/// The same for a batch.
std::vector<NBest> sample(StepModel& model, std::span<const Start> starts, const SearchPlan& plan);

/// Which tokens are drawn from.
struct TailCut {
  std::int64_t top_k = 0;  ///< 0: all.
  double top_p = 1.0;
  double min_p = 0.0;
};

/// The tokens that remain, most probable first and the lowest first among equals; never those of
/// weight 0. Weights need not sum to 1.
std::vector<std::int32_t> cut_tail(std::span<const float> weights, const TailCut& cut);

/// The token of `tokens` that a uniform number in [0, 1) selects, if each token has a share of [0,
/// 1) proportional to its weight, in their order; kNoToken if no weight is above 0.
std::int32_t draw(std::span<const float> weights, std::span<const std::int32_t> tokens,
                  double uniform);

}  // namespace heed
