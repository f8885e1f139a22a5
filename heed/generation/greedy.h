// Search with one hypothesis per sequence: each step picks one token and never revises it. Greedy
// search picks the most probable token; sample.h picks at random.
#pragma once

#include "heed/base/threads.h"
#include "heed/generation/lockstep.h"

namespace heed {

/// Takes the most probable token each step until the sequence is complete (Lockstep::finish).
std::vector<NBest> greedy_search(StepModel& model, std::span<const Start> starts,
                                 const SearchPlan& plan);

/// Picks the next token of each row, or kernels::kNoToken where none is allowed.
using Sampler = FunctionRef<void(const Lockstep& lockstep, std::span<std::int32_t> picked)>;

/// Extends every sequence by the sampler's tokens until all are complete; k is the number of tokens
/// that the sampler needs from Lockstep::likeliest. The results of a sentence, one per copy, are
/// sorted by score, best first.
std::vector<NBest> roll_out(Lockstep& lockstep, std::int64_t k, Sampler sampler);

}  // namespace heed
