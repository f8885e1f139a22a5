// The moving average: beside PyTorch's training, exchanged, saved.
#include "heed/training/ema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/config.h"
#include "heed/tensor/create.h"
#include "heed/training/clip.h"
#include "heed/training/optimizer.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"
#include "tests/training/golden_network.h"

namespace heed {
namespace {

using testing::HasSubstr;

void check_golden_average(DType dtype, double tolerance) {
  const test::Golden golden = test::load_golden("optimiser_ema");
  const test::GoldenNetwork network = test::golden_network(golden, dtype);
  const auto parameters = network.named_parameters();
  AdamW optimizer(parameters, {.beta1 = 0.9, .beta2 = 0.98, .epsilon = 1e-9, .weight_decay = 0.01});
  Ema ema(parameters, {.decay = golden.number("ema_decay")});
  for (std::int64_t i = 0; i < 10; ++i) {
    test::golden_loss(network, golden, i).backward();
    const double scale = clip(optimizer.parameters(), golden.number("max_norm")).scale;
    optimizer.step({.rate = golden.number("lr"), .gradient_scale = scale});
    optimizer.zero_grad();
    ema.update();
    test::expect_golden_step(parameters, golden, "after", i, tolerance);
    test::expect_golden_step(ema.averages(), golden, "ema", i, tolerance);
  }
}

TEST(Ema, Golden) {
  check_golden_average(DType::f64, 1e-7);
  check_golden_average(DType::f32, 2e-5);
}

TEST(Ema, SwapExchangesAndBack) {
  Tensor w = full({3}, 1.0).requires_grad();
  const std::vector<NamedTensor> parameters = {{"w", w}};
  Ema ema(parameters, {.decay = 0.5});
  w.mutable_data<float>()[0] = 3.0f;
  ema.update();
  ema.swap();
  EXPECT_EQ(w.to_vector<float>(), std::vector<float>({2, 1, 1}));
  EXPECT_EQ(ema.averages()[0].tensor.data<float>()[0], 3.0f);
  ema.swap();
  EXPECT_EQ(w.to_vector<float>(), std::vector<float>({3, 1, 1}));
}

TEST(Ema, SavesAndLoads) {
  const TempDir dir;
  Tensor w = full({3}, 1.0).requires_grad();
  Ema saved(std::vector<NamedTensor>{{"w", w}});
  saved.save(dir / "ema.safetensors");
  Ema loaded(std::vector<NamedTensor>{{"w", zeros({3})}});
  loaded.load(dir / "ema.safetensors");
  EXPECT_TRUE(test::same_bits(loaded.averages()[0].tensor, w));
  Ema other(std::vector<NamedTensor>{{"v", zeros({3})}});
  EXPECT_THAT(error_message([&] { other.load(dir / "ema.safetensors"); }),
              HasSubstr("missing 'v'"));
}

TEST(Ema, PassesOverWhatIsNoNumberToAverage) {
  const Ema ema(std::vector<NamedTensor>{{"ids", zeros({2}, DType::i64)}, {"w", zeros({2})}});
  ASSERT_EQ(ema.averages().size(), 1u);
  EXPECT_EQ(ema.averages()[0].name, "w");
}

TEST(Ema, RefusesBadInput) {
  EXPECT_THAT(error_message([] { Ema({}, {.decay = 1.5}); }), HasSubstr("decay 1.5"));
  EmaConfig config;
  EXPECT_THAT(error_message([&] { io::load_toml("decay = 2", config); }), HasSubstr("decay"));
  const std::vector<NamedTensor> mixed = {{"a", zeros({2})}, {"b", zeros({2}, DType::f64)}};
  EXPECT_THAT(error_message([&] { Ema{mixed}; }), HasSubstr("parameter 'b' is f64"));
  Ema empty({});
  empty.update();
  empty.swap();
}

}  // namespace
}  // namespace heed
