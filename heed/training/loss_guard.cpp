#include "heed/training/loss_guard.h"

#include <algorithm>
#include <cmath>

namespace heed {
namespace {

constexpr double kMemory = 50.0;  // updates of the moving averages
constexpr double kLeast = 1.0;    // usual losses below this one count as this one
constexpr double kRare = 0.1;     // share of the recent updates up to which jumps are skipped

}  // namespace

bool LossGuard::skips(double loss, double gradient_norm) {
  if (!std::isfinite(loss) || !std::isfinite(gradient_norm)) return true;
  const auto accepted = static_cast<double>(progress_.updates - progress_.skipped);
  // The first losses are too few for an average.
  const bool jump = explosion_ > 0.0 && accepted >= kMemory &&
                    loss > explosion_ * std::max(progress_.usual_loss, kLeast);
  const bool skip = jump && progress_.jump_share < kRare;
  progress_.jump_share += ((jump ? 1.0 : 0.0) - progress_.jump_share) / kMemory;
  if (!skip) {
    const double weight = 1.0 / std::min(accepted + 1.0, kMemory);
    progress_.usual_loss += weight * (loss - progress_.usual_loss);
  }
  return skip;
}

}  // namespace heed
