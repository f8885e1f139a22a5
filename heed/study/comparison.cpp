#include "heed/study/comparison.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "heed/autograd/tape.h"
#include "heed/base/arena.h"
#include "heed/base/error.h"
#include "heed/base/flops.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

constexpr std::int64_t kHead = 64;      // features of a head, if the layer has that many
constexpr std::int64_t kPathEmbed = 2;  // features while paths are counted
constexpr double kLongEnough = 2e-3;    // seconds, minimum for the clock
constexpr double kTooLong = 0.4;        // seconds: longer calls are repeated less often

std::string option(const char* key, std::int64_t value) { return fmt::format("{}={}", key, value); }

// ---- the layers ---------------------------------------------------------------------------------

std::vector<std::string> attention_options(std::int64_t embed) {
  return {option("embed", embed), option("heads", embed % kHead == 0 ? embed / kHead : 1)};
}

// The options of a layer of a comparison, `depth` layers above the lowest.
std::vector<std::string> options_of(const Comparison& c, const ComparedLayer& layer,
                                    std::int64_t embed, std::int64_t depth = 0) {
  if (&layer == &c.recurrence) return {option("embed", embed)};
  if (&layer == &c.attention) return attention_options(embed);
  if (&layer == &c.restricted) {
    std::vector<std::string> options = attention_options(embed);
    options.push_back(option("left", c.config.neighbours));
    options.push_back(option("right", c.config.neighbours));
    return options;
  }
  std::int64_t dilation = 1;
  while (&layer == &c.dilated && depth-- > 0) dilation *= c.config.kernel;
  return {option("embed", embed), option("kernel", c.config.kernel), option("dilation", dilation)};
}

void name_layers(Comparison& c) {
  const ComparisonConfig& config = c.config;
  const auto name = [](ComparedLayer& layer, std::string what, std::string title, Formulas f) {
    layer.name = std::move(what);
    layer.title = std::move(title);
    layer.formulas = std::move(f);
  };
  name(c.convolution, "conv1d", fmt::format("convolution (k = {})", config.kernel),
       {"k n d^2", "1", "n / k"});
  name(c.dilated, "conv1d", fmt::format("convolution, dilated (k = {})", config.kernel),
       {"k n d^2", "1", "log_k n"});
  name(c.recurrence, config.recurrence,
       fmt::format("recurrence ({})", config.recurrence == "gru" ? "GRU" : "LSTM"),
       {"n d^2", "n", "n"});
  name(c.attention, "multi_head", "self-attention", {"n^2 d", "1", "1"});
  name(c.restricted, "restricted",
       fmt::format("restricted self-attention (r = {})", config.neighbours),
       {"r n d", "1", "n / r"});
}

// ---- measuring ----------------------------------------------------------------------------------

template <typename F>
double seconds_of(const F& f) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  f();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The best of several runs, each with as many calls as the clock needs.
template <typename F>
double best_seconds(const F& f, std::int64_t runs) {
  const double once = seconds_of(f);
  if (once > kTooLong) runs = std::min<std::int64_t>(runs, 2);
  const int calls = std::clamp(static_cast<int>(kLongEnough / std::max(once, 1e-9)), 1, 10000);
  double best = std::numeric_limits<double>::infinity();
  for (std::int64_t run = 0; run < runs; ++run) {
    const double all = seconds_of([&] {
      for (int i = 0; i < calls; ++i) f();
    });
    best = std::min(best, all / calls);
  }
  return best;
}

Measurement measure(const ComparisonConfig& config, SequenceLayer& layer, std::int64_t length,
                    std::int64_t size) {
  Generator generator(1);
  Tensor x = normal({config.batch, length, size}, 0.0, 1.0, generator);  // [B, T, E]
  const Tensor dy = ones(x.shape());                                     // [B, T, E]
  if (config.backward) x.requires_grad();
  const GradScope mode(config.backward ? GradMode::on : GradMode::off);
  const auto call = [&] {
    const Tensor y = layer(x);  // [B, T, E]
    if (!config.backward) return;
    backward(y, dy);
    layer.zero_grad();
    x.set_grad({});
  };
  Measurement m{.length = length, .size = size};
  {
    const FlopCounter counter;  // this call also touches the memory for the first time
    call();
    m.flops = counter.count();
  }
  const std::size_t before = arena::stats().bytes_live;
  arena::reset_peak();
  call();
  m.bytes = static_cast<std::int64_t>(arena::stats().bytes_peak - before);
  m.seconds = best_seconds(call, config.runs);
  return m;
}

// ---- evaluation ---------------------------------------------------------------------------------

using Cost = double (*)(const Measurement& m);
double seconds_in(const Measurement& m) { return m.seconds; }
double bytes_in(const Measurement& m) { return static_cast<double>(m.bytes); }
double flops_in(const Measurement& m) { return static_cast<double>(m.flops); }

// A cost against n for one d, or against d for one n.
struct Curve {
  std::vector<double> x, y;
};

Curve along_lengths(const ComparedLayer& layer, std::int64_t size, Cost cost) {
  Curve curve;
  for (const Measurement& m : layer.points) {
    if (m.size != size) continue;
    curve.x.push_back(static_cast<double>(m.length));
    curve.y.push_back(cost(m));
  }
  return curve;
}

Curve along_sizes(const ComparedLayer& layer, std::int64_t length, Cost cost) {
  Curve curve;
  for (const Measurement& m : layer.points) {
    if (m.length != length) continue;
    curve.x.push_back(static_cast<double>(m.size));
    curve.y.push_back(cost(m));
  }
  return curve;
}

Growth growth_of(const ComparisonConfig& config, const ComparedLayer& layer, Cost cost) {
  const Curve lengths = along_lengths(layer, config.sizes.front(), cost);
  const Curve sizes = along_sizes(layer, config.lengths.back(), cost);
  return {fit_power_law(lengths.x, lengths.y).exponent, fit_power_law(sizes.x, sizes.y).exponent};
}

Crossover crossover_at(const Comparison& c, std::int64_t size, Cost cost) {
  const Curve attention = along_lengths(c.attention, size, cost);
  const Curve recurrence = along_lengths(c.recurrence, size, cost);
  return find_crossover(attention.x, attention.y, recurrence.y);
}

bool rises(const std::vector<std::int64_t>& values, std::int64_t least) {
  return std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) == values.end() &&
         !values.empty() && values.front() >= least;
}

}  // namespace

void ComparisonConfig::validate() const {
  HEED_CHECK(lengths.size() >= 2 && rises(lengths, 1),
             "[compare] lengths {}: give at least two, positive and ascending",
             fmt::join(lengths, " "));
  HEED_CHECK(sizes.size() >= 2 && rises(sizes, 1),
             "[compare] sizes {}: give at least two, positive and ascending",
             fmt::join(sizes, " "));
  HEED_CHECK(rises(path_lengths, 2), "[compare] path lengths {}: at least two, and ascending",
             fmt::join(path_lengths, " "));
  HEED_CHECK(kernel >= 2,
             "[compare] a kernel of {} reaches no other position: it must be at least 2", kernel);
  HEED_CHECK(neighbours >= 1, "[compare] a neighbourhood of {}: 1 at least", neighbours);
  HEED_CHECK(batch >= 1 && runs >= 1, "[compare] batch {} and runs {} must be positive", batch,
             runs);
  HEED_CHECK(recurrence == "gru" || recurrence == "lstm",
             "[compare] recurrence {}: it must be gru or lstm", recurrence);
}

std::vector<const ComparedLayer*> Comparison::layers() const {
  return {&convolution, &dilated, &recurrence, &attention, &restricted};
}

Comparison compare_layers(const ComparisonConfig& config, ComparisonProgress progress) {
  config.validate();
  Comparison c;
  c.config = config;
  name_layers(c);
  ComparedLayer* const all[] = {&c.convolution, &c.dilated, &c.recurrence, &c.attention,
                                &c.restricted};
  const auto measured = [&](const ComparedLayer* layer) { return layer != &c.dilated; };
  const auto total = static_cast<std::int64_t>(5 * config.path_lengths.size() +
                                               4 * config.lengths.size() * config.sizes.size());
  std::int64_t done = 0;
  Generator generator(1);
  for (ComparedLayer* const layer : all) {
    const LayerAt make = [&](std::int64_t depth) {
      return make_sequence_layer(layer->name, options_of(c, *layer, kPathEmbed, depth), generator);
    };
    for (const std::int64_t n : config.path_lengths) {
      progress(done++, total, fmt::format("{}: path, n = {}", layer->title, n));
      layer->paths.push_back({n, count_path(make, n, kPathEmbed)});
    }
  }
  for (const std::int64_t d : config.sizes) {
    for (ComparedLayer* const layer : all) {
      if (!measured(layer)) continue;
      const auto made = make_sequence_layer(layer->name, options_of(c, *layer, d), generator);
      for (const std::int64_t n : config.lengths) {
        progress(done++, total, fmt::format("{}: n = {}, d = {}", layer->title, n, d));
        layer->points.push_back(measure(config, *made, n, d));
      }
    }
  }
  for (ComparedLayer* const layer : all) {
    if (!measured(layer)) continue;
    layer->time = growth_of(config, *layer, seconds_in);
    layer->memory = growth_of(config, *layer, bytes_in);
    layer->flops = growth_of(config, *layer, flops_in);
  }
  for (const std::int64_t d : config.sizes) {
    c.crossovers.push_back({d, crossover_at(c, d, seconds_in), crossover_at(c, d, flops_in)});
  }
  progress(total, total, "done");
  return c;
}

}  // namespace heed
