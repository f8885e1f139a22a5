// One way per sequence: each step one token is picked and there is no going back. The likeliest
// token makes it greedy search; sample.h picks at random.
#pragma once

#include "heed/base/threads.h"
#include "heed/generation/lockstep.h"

namespace heed {

/// Takes the likeliest token each step until it is the end.
std::vector<NBest> greedy_search(StepModel& model, std::span<const Start> starts,
                                 const SearchPlan& plan);

/// Picks each row's next token, or kernels::kNoToken where none may follow.
using Sampler = FunctionRef<void(const Lockstep& lockstep, std::span<std::int32_t> picked)>;

/// Extends every sequence by what the sampler picks until all are ended; k is what the sampler
/// wants of Lockstep::likeliest. A sentence's results, one per copy, come best score first.
std::vector<NBest> roll_out(Lockstep& lockstep, const SearchPlan& plan, std::int64_t k,
                            Sampler sampler);

}  // namespace heed
