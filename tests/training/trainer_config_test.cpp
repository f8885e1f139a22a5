#include "heed/training/trainer_config.h"

#include <gtest/gtest.h>

#include "heed/io/config.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

TEST(TrainerConfig, FrequenciesAreChecked) {
  TrainerConfig config;
  EXPECT_EQ(
      error_message([&] { io::set_fields(config, {"valid_freq=often"}); }),
      "[config] flags: [train] valid_freq = \"often\": write \"10e\" for ten epochs, \"500u\" or "
      "\"5Ku\" for updates, \"0\" for never");
  io::set_fields(config, {"after=5Ku", "optimizer.kind=adamw", "schedule.warmup=10"});
  EXPECT_EQ(config.after, "5Ku");
  EXPECT_EQ(config.optimizer.kind, OptimizerKind::adamw);
}

// Each kind moves a parameter in its own way.
TEST(OptimizerConfig, TheKindIsTheOneNamed) {
  const auto moved = [](OptimizerKind kind, double decay) {
    Tensor w = full({1}, 2.0).requires_grad();
    const auto optimizer = make_optimizer(
        {.kind = kind, .weight_decay = decay, .decay_matrices_only = false}, {{"w", w}});
    w.set_grad(full({1}, 0.5));
    optimizer->step({.rate = 0.1});
    return static_cast<double>(w.data<float>()[0]);
  };
  EXPECT_NEAR(moved(OptimizerKind::sgd, 0.0), 2.0 - 0.1 * 0.5, 1e-6);
  EXPECT_NEAR(moved(OptimizerKind::adam, 0.0), 2.0 - 0.1, 1e-6);
  EXPECT_NEAR(moved(OptimizerKind::adam, 1.0), 2.0 - 0.1, 1e-6);         // within the gradient
  EXPECT_NEAR(moved(OptimizerKind::adamw, 1.0), 2.0 * 0.9 - 0.1, 1e-6);  // beside it
}

}  // namespace
}  // namespace heed
