// heed demo: trains a small convolutional network on digits that heed draws itself, and shows what
// it has learnt.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "cli/digits.h"
#include "cli/progress.h"
#include "cli/verbs.h"
#include "heed/autograd/tape.h"
#include "heed/base/threads.h"
#include "heed/nn/conv.h"
#include "heed/nn/dropout.h"
#include "heed/nn/linear.h"
#include "heed/nn/norm.h"
#include "heed/ops/cross_entropy.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/order.h"
#include "heed/ops/pool.h"
#include "heed/ops/softmax.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "heed/training/clip.h"
#include "heed/training/optimizer.h"
#include "heed/training/schedule.h"

namespace heed::cli {
namespace {

struct DemoConfig {
  std::int64_t updates = 600;
  std::int64_t batch = 64;
  std::int64_t held_out = 2000;
  std::uint64_t seed = 1;
};

struct DigitNet : Module {
  Conv2d edges{{.in = 1, .out = 16, .kernel = 3, .padding = 1}};
  Conv2d parts{{.in = 16, .out = 32, .kernel = 3, .padding = 1}};
  Linear hidden{{.in = 32 * 5 * 5, .out = 96, .activation = Activation::gelu}};
  LayerNorm norm{{.size = 96}};
  Dropout dropout{{.p = 0.2}};
  Linear scores{{.in = 96, .out = 10}};

  void visit(ParameterVisitor& v) override {
    v("edges", edges);
    v("parts", parts);
    v("hidden", hidden);
    v("norm", norm);
    v("dropout", dropout);
    v("scores", scores);
  }
  Tensor operator()(const Tensor& pictures) const {
    const Tensor a = max_pool2d(relu(edges(pictures)), 2);       // [B, 16, 10, 10]
    const Tensor b = max_pool2d(relu(parts(a)), 2);              // [B, 32, 5, 5]
    const Tensor c = norm(hidden(reshape(b, {b.size(0), -1})));  // [B, 96]
    return scores(dropout(c));                                   // [B, 10]
  }
};

void train(DigitNet& net, const DemoConfig& config, RandomStream pictures) {
  AdamW optimizer(net.named_parameters(), {.weight_decay = 0.01});
  const ScheduleConfig schedule{.kind = Schedule::cosine,
                                .peak = 2e-3,
                                .warmup = config.updates / 10,
                                .total = config.updates};
  Progress progress("training", config.updates);
  double smooth_loss = 0.0;
  for (std::int64_t update = 1; update <= config.updates; ++update) {
    const DigitBatch batch = draw_digits(pictures, update * config.batch, config.batch);
    const Tensor loss = cross_entropy(net(batch.pictures), batch.labels);
    loss.backward();
    const double now = rate(schedule, update);
    optimizer.step({.rate = now, .gradient_scale = clip(optimizer.parameters(), 1.0).scale});
    optimizer.zero_grad();
    smooth_loss = update == 1 ? loss.item() : 0.95 * smooth_loss + 0.05 * loss.item();
    progress.update(
        update, fmt::format("update {:>4}  loss {:.4f}  rate {:.5f}", update, smooth_loss, now));
  }
}

struct Judged {
  DigitBatch pictures;
  std::vector<std::int64_t> said;
  std::vector<float> sure;

  bool right(std::int64_t i) const {
    return said[static_cast<std::size_t>(i)] == pictures.labels.data<std::int64_t>()[i];
  }
};

Judged judge(const DigitNet& net, RandomStream stream, std::int64_t count) {
  const NoGrad off;
  Judged j{draw_digits(stream, 0, count), {}, {}};
  const Ordered best = topk(softmax(net(j.pictures.pictures)), 1);
  j.said = best.indices.to_vector<std::int64_t>();
  j.sure = best.values.to_vector<float>();
  return j;
}

// Pictures in one row with what the network says of each below.
void show(const Judged& j, const std::vector<std::int64_t>& which) {
  constexpr int kGap = 3;
  std::string lines;
  Tensor row = empty({static_cast<std::int64_t>(which.size()), 1, kDigitSide, kDigitSide});
  for (std::size_t i = 0; i < which.size(); ++i) {
    constexpr std::int64_t kSize = kDigitSide * kDigitSide;
    std::copy_n(j.pictures.pictures.data<float>() + which[i] * kSize, kSize,
                row.mutable_data<float>() + static_cast<std::int64_t>(i) * kSize);
    const std::size_t at = static_cast<std::size_t>(which[i]);
    const std::string verdict =
        fmt::format("{} ({:.0f} %){}", j.said[at], j.sure[at] * 100,
                    j.right(which[i])
                        ? ""
                        : fmt::format(", drawn as {}", j.pictures.labels.data<std::int64_t>()[at]));
    lines += fmt::format("{:{}}{:^{}}", "", kGap, verdict, kDigitSide);
  }
  fmt::print("{}{}\n\n", show_digits(row, 0, static_cast<std::int64_t>(which.size()), kGap), lines);
}

void demo(const DemoConfig& config) {
  default_generator() = Generator(config.seed);
  const RandomStream training{config.seed, 1};
  const RandomStream held_out{config.seed, 2};
  DigitNet net;
  fmt::print(
      "heed draws digits: turned, slanted, thick or thin, with noise. A network of {} parameters "
      "learns to read\n"
      "them on {} threads. The pictures it is judged by are not among those it learns from.\n\n",
      net.parameter_count(), num_threads());
  train(net, config, training);
  net.eval();
  const Judged judged = judge(net, held_out, config.held_out);
  std::vector<std::int64_t> shown{0, 1, 2, 3}, wrong;
  std::int64_t right = 0;
  for (std::int64_t i = 0; i < config.held_out; ++i) {
    right += judged.right(i) ? 1 : 0;
    if (!judged.right(i) && wrong.size() < 4) wrong.push_back(i);
  }
  fmt::print("\nNew pictures, and what the network says they are:\n\n");
  show(judged, shown);
  if (!wrong.empty()) {
    fmt::print("The hardest of them; would you have known?\n\n");
    show(judged, wrong);
  }
  fmt::print("{:.1f} % of {} new pictures read correctly.\n",
             100.0 * static_cast<double>(right) / static_cast<double>(config.held_out),
             config.held_out);
}

}  // namespace

void add_demo(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand(
      "demo", "Train a small network on digits that heed draws, and show what it learnt");
  const auto config = std::make_shared<DemoConfig>();
  verb->add_option("--updates", config->updates, "training steps")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  verb->add_option("--batch", config->batch, "pictures a step")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  verb->add_option("--held-out", config->held_out, "pictures to judge by")
      ->check(CLI::Range(4, 1000000))
      ->capture_default_str();
  verb->add_option("--seed", config->seed, "another seed draws other pictures")
      ->capture_default_str();
  verb->callback([config] { demo(*config); });
}

}  // namespace heed::cli
