// The scores of LSH attention as a stage: a position is its own key only if there is no other, and
// a pair that several rounds find counts once.
#pragma once

#include "heed/attention/stage.h"
#include "heed/attention/variants/lsh_order.h"

namespace heed {

/// The score of a position with itself. As in the paper, it is so low that all other keys win, and
/// high enough that the position still has a weight if there are none.
inline constexpr float kLshSelfScore = -1e5f;

/// What the stage changes.
struct LshScoreOptions {
  bool unique = false;
  bool selves = true;  ///< False if no position is among its own keys.
};

/// For queries and keys in the order of LshReach::bucket or LshReach::chunk, lines [B, rounds H,
/// T]. The score of a position with itself is kLshSelfScore. If `unique`, the score of a pair that
/// is visible in N rounds is less by log N, so that its weights in all rounds add up to one.
Modifier lsh_scores(const LshOrder& order, const LshScoreOptions& options);

}  // namespace heed
