#include "heed/training/progress.h"

#include <gtest/gtest.h>

#include "heed/io/config.h"

namespace heed {
namespace {

TEST(TrainingProgress, NothingIsLostOnTheWayThroughJson) {
  TrainingProgress progress{.updates = 12, .epoch = 3, .batch = 4, .seed = -1, .stream = 1 << 30};
  progress.usual_loss = 0.1 + 0.2;
  progress.judged = true;
  progress.best = 1.0 / 3.0;
  progress.seconds = 1e-17;
  TrainingProgress read;
  io::load_json(io::to_json(progress), read);
  EXPECT_EQ(io::to_json(read), io::to_json(progress));
  EXPECT_EQ(read.usual_loss, progress.usual_loss);
  EXPECT_EQ(read.best, progress.best);
  EXPECT_EQ(read.seed, -1);
}

}  // namespace
}  // namespace heed
