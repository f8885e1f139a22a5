// Optimisers: ten steps beside PyTorch's, exact resume, who is passed over, bad input.
#include "heed/training/optimizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>

#include "heed/io/config.h"
#include "heed/io/safetensors.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/create.h"
#include "heed/training/clip.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"
#include "tests/training/golden_network.h"

namespace heed {
namespace {

using test::Golden;
using testing::HasSubstr;

double optional(const Golden& g, const char* key, double otherwise) {
  return g.metadata.contains(key) ? g.number(key) : otherwise;
}

AdamConfig adam_config(const Golden& g) {
  const std::string& betas = g.text("betas");
  return {.beta1 = std::stod(betas),
          .beta2 = std::stod(betas.substr(betas.find(',') + 1)),
          .epsilon = g.number("eps"),
          .weight_decay = g.number("weight_decay")};
}

SgdConfig sgd_config(const Golden& g) {
  return {.momentum = optional(g, "momentum", 0.0),
          .nesterov = g.metadata.contains("nesterov"),
          .weight_decay = optional(g, "weight_decay", 0.0)};
}

std::unique_ptr<Optimizer> make(const std::string& golden, const Golden& g,
                                const std::vector<NamedTensor>& parameters) {
  if (golden == "optimiser_adamw") return std::make_unique<AdamW>(parameters, adam_config(g));
  if (golden == "optimiser_adam_l2") return std::make_unique<Adam>(parameters, adam_config(g));
  return std::make_unique<Sgd>(parameters, sgd_config(g));
}

void check_training(const std::string& name, DType dtype) {
  const Golden golden = test::load_golden(name);
  const test::GoldenNetwork network = test::golden_network(golden, dtype);
  const auto optimizer = make(name, golden, network.named_parameters());
  // The file is rounded to f32: half a unit of numbers below 4 is 1.2e-7.
  const double tolerance = dtype == DType::f64 ? 1.2e-7 : 2e-5;
  const double max_norm = optional(golden, "max_norm", std::numeric_limits<double>::infinity());
  for (std::int64_t i = 0; i < 10; ++i) {
    const Tensor loss = test::golden_loss(network, golden, i);
    loss.backward();
    const ClippedGradient gradient = clip(optimizer->parameters(), max_norm);
    const auto expected = [&](const char* what) {
      return view::select(golden.tensors.at(what), 0, i).item();
    };
    EXPECT_NEAR(loss.item(), expected("out.loss"), tolerance) << name << ", step " << i;
    EXPECT_NEAR(gradient.norm, expected("out.grad_norm"), 5.0 * tolerance)
        << name << ", step " << i;
    optimizer->step({.rate = golden.number("lr"), .gradient_scale = gradient.scale});
    optimizer->zero_grad();
    test::expect_golden_step(network.named_parameters(), golden, "after", i, tolerance);
  }
}

TEST(Optimizer, TenStepsAreThoseOfPyTorch) {
  for (const char* name :
       {"optimiser_adamw", "optimiser_adam_l2", "optimiser_sgd", "optimiser_sgd_clipped",
        "optimiser_sgd_momentum", "optimiser_sgd_nesterov"}) {
    check_training(name, DType::f64);
    check_training(name, DType::f32);
  }
}

struct Weights : Module {
  Tensor a = full({2, 3}, 0.5).requires_grad();
  Tensor b = full({5}, -0.25).requires_grad();
  void visit(ParameterVisitor& v) override {
    v("a", a);
    v("b", b);
  }
  Tensor loss(double x) const { return sum(square(a * x)) + sum(square(b + x)); }
};

template <typename Make>
void check_resume(const Make& make_optimizer) {
  const TempDir dir;
  Weights straight;
  const auto first = make_optimizer(straight);
  const auto train = [](Weights& weights, Optimizer& optimizer, int from, int to) {
    for (int i = from; i < to; ++i) {
      weights.loss(0.1 * i).backward();
      optimizer.step({.rate = 0.05});
      optimizer.zero_grad();
    }
  };
  train(straight, *first, 0, 3);
  first->save(dir / "optimizer.safetensors");
  Weights resumed = straight;
  resumed.clone_parameters();
  const auto second = make_optimizer(resumed);
  second->load(dir / "optimizer.safetensors");
  train(straight, *first, 3, 6);
  train(resumed, *second, 3, 6);
  EXPECT_TRUE(test::same_bits(straight.a, resumed.a));
  EXPECT_TRUE(test::same_bits(straight.b, resumed.b));
}

TEST(Optimizer, ResumesExactly) {
  check_resume([](Weights& w) { return std::make_unique<AdamW>(w.named_parameters()); });
  check_resume([](Weights& w) { return std::make_unique<Adam>(w.named_parameters()); });
  check_resume([](Weights& w) {
    return std::make_unique<Sgd>(w.named_parameters(), SgdConfig{.momentum = 0.9});
  });
  check_resume([](Weights& w) { return std::make_unique<Sgd>(w.named_parameters()); });
}

TEST(Optimizer, StateFilesAreChecked) {
  const TempDir dir;
  Weights weights;
  AdamW adamw(weights.named_parameters());
  Sgd sgd(weights.named_parameters());
  adamw.save(dir / "adamw.safetensors");
  const auto file = io::SafetensorsFile::open(dir / "adamw.safetensors");
  EXPECT_TRUE(file.contains("a.exp_avg"));
  EXPECT_TRUE(file.contains("b.exp_avg_sq"));
  EXPECT_TRUE(file.contains("b.step"));
  EXPECT_THAT(
      error_message([&] { sgd.load(dir / "adamw.safetensors"); }),
      HasSubstr("[sgd] " + (dir / "adamw.safetensors").string() + " holds the state of adamw"));
  io::write_safetensors(dir / "none.safetensors", {});
  EXPECT_THAT(error_message([&] { adamw.load(dir / "none.safetensors"); }),
              HasSubstr("does not hold the state of an optimiser"));
  weights.b = zeros({6}).requires_grad();
  AdamW other(weights.named_parameters());
  EXPECT_THAT(error_message([&] { other.load(dir / "adamw.safetensors"); }),
              HasSubstr("'b.exp_avg' is [5] in the file, [6] here"));
}

TEST(Optimizer, ParametersWithoutGradientArePassedOver) {
  Weights weights;
  AdamW optimizer(weights.named_parameters(), {.weight_decay = 0.5});
  const Tensor b = clone_data(weights.b);
  sum(weights.a).backward();
  optimizer.step({.rate = 0.1});
  EXPECT_TRUE(test::same_bits(weights.b, b)) << "no gradient, no decay either";
  EXPECT_NE(weights.a.data<float>()[0], 0.5f);

  // Its first step comes later and is as large as a first step: corrections are its own.
  optimizer.zero_grad();
  sum(weights.b).backward();
  optimizer.step({.rate = 0.1});
  EXPECT_NEAR(weights.b.data<float>()[0], -0.25 * 0.95 - 0.1, 1e-6);
}

TEST(Optimizer, FrozenParametersAreLeftOut) {
  Weights weights;
  weights.b.requires_grad(false);
  Sgd optimizer(weights.named_parameters());
  EXPECT_EQ(optimizer.parameters().size(), 1u);
  sum(weights.a).backward();
  optimizer.step({.rate = 1.0});
  EXPECT_EQ(weights.b.data<float>()[0], -0.25f);
}

TEST(Optimizer, DecayOfMatricesOnly) {
  for (const bool decoupled : {true, false}) {
    Weights weights;
    const AdamConfig config{.weight_decay = 0.5, .decay_matrices_only = true};
    std::unique_ptr<Optimizer> optimizer;
    if (decoupled) {
      optimizer = std::make_unique<AdamW>(weights.named_parameters(), config);
    } else {
      optimizer = std::make_unique<Adam>(weights.named_parameters(), config);
    }
    weights.a.set_grad(zeros({2, 3}));
    weights.b.set_grad(zeros({5}));
    optimizer->step({.rate = 0.1});
    EXPECT_LT(weights.a.data<float>()[0], 0.5f);
    EXPECT_EQ(weights.b.data<float>()[0], -0.25f);
  }
}

TEST(Optimizer, GradientsAreNotRewritten) {
  Weights weights;
  Sgd optimizer(weights.named_parameters());
  sum(weights.a).backward();
  optimizer.step({.rate = 1.0, .gradient_scale = 0.125});
  EXPECT_EQ(weights.a.data<float>()[0], 0.375f);
  EXPECT_EQ(weights.a.grad().data<float>()[0], 1.0f);
}

TEST(Optimizer, TakesStridedGradients) {
  Weights weights;
  Sgd optimizer(weights.named_parameters());
  const Tensor columns = arange(6, DType::f32);
  weights.a.set_grad(Tensor(columns.storage(), DType::f32, {2, 3}, {1, 2}, 0));
  optimizer.step({.rate = 1.0});
  EXPECT_EQ(weights.a.to_vector<float>(), std::vector<float>({0.5, -1.5, -3.5, -0.5, -2.5, -4.5}));
}

TEST(Optimizer, RefusesWhatItCannotTrain) {
  Weights weights;
  weights.b = zeros({5}, DType::f64).requires_grad();
  EXPECT_THAT(error_message([&] { AdamW(weights.named_parameters()); }),
              HasSubstr("[adamw] parameter 'b' is f64, those before it f32"));
  Tensor gaps = view::transpose(zeros({3, 2}), 0, 1);
  weights.b = gaps.requires_grad();
  EXPECT_THAT(error_message([&] { Sgd(weights.named_parameters()); }),
              HasSubstr("[sgd] parameter 'b' is a view with gaps"));
  EXPECT_THAT(error_message([&] { Adam({}, {.beta1 = 1.0}); }), HasSubstr("[adam] beta1 1"));
  EXPECT_THAT(error_message([&] { Sgd({}, {.nesterov = true}); }),
              HasSubstr("[sgd] nesterov needs a momentum"));
}

TEST(Optimizer, NothingToTrain) {
  AdamW optimizer({});
  optimizer.step({.rate = 0.1});
  optimizer.zero_grad();
  EXPECT_TRUE(optimizer.parameters().empty());
}

TEST(Optimizer, ConfigsFromToml) {
  AdamConfig adam;
  io::load_toml("beta2 = 0.98\nweight_decay = 0.1\ndecay_matrices_only = true", adam);
  EXPECT_EQ(adam.beta2, 0.98);
  EXPECT_EQ(adam.weight_decay, 0.1);
  EXPECT_TRUE(adam.decay_matrices_only);
  EXPECT_THAT(error_message([&] { io::load_toml("beta_1 = 0.5", adam); }), HasSubstr("beta1"));
  SgdConfig sgd;
  io::load_toml("momentum = 0.9\nnesterov = true", sgd);
  EXPECT_EQ(sgd.momentum, 0.9);
  EXPECT_THAT(error_message([&] { io::load_toml("momentum = 0", sgd); }), HasSubstr("nesterov"));
}

}  // namespace
}  // namespace heed
