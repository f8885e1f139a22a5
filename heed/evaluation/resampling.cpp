#include "heed/evaluation/resampling.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/base/error.h"
#include "heed/evaluation/numpy_random.h"
#include "heed/evaluation/numpy_sums.h"

namespace heed::evaluation {
namespace {

void check(std::span<const Statistics> sentences, const Trials& trials) {
  HEED_CHECK(trials.count >= 1, "[score] {} trials: must be 1 or more", trials.count);
  HEED_CHECK(!sentences.empty() && sentences.size() < std::numeric_limits<std::uint32_t>::max(),
             "[score] cannot resample {} sentences", sentences.size());
}

// Scores of resampled corpora. NumPy uses float32 for them if all are float32, else float64.
struct Samples {
  std::vector<double> values;
  bool single = true;
};

Samples resample(const Metric& metric, std::span<const Statistics> sentences, Trials trials) {
  const std::size_t width = sentences[0].size();
  std::vector<float> rows;
  for (const Statistics& sentence : sentences) {
    for (const double value : sentence) rows.push_back(static_cast<float>(value));
  }
  NumpyRandom random(trials.seed);
  const auto n = static_cast<std::uint32_t>(sentences.size());
  std::vector<float> sums(width);
  Samples samples;
  for (std::int64_t trial = 0; trial < trials.count; ++trial) {
    std::fill(sums.begin(), sums.end(), 0.0f);
    for (std::uint32_t i = 0; i < n; ++i) {
      const float* const row = rows.data() + random.below(n) * width;
      for (std::size_t k = 0; k < width; ++k) sums[k] += row[k];
    }
    const Sample sample = metric.sample(sums);
    samples.values.push_back(sample.value);
    samples.single = samples.single && sample.single;
  }
  return samples;
}

// Half the width of the range of the sorted scores without a fortieth at each end.
double half_width(const Samples& samples) {
  std::vector<double> sorted = samples.values;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t low = sorted.size() / 40;
  const double width = sorted[sorted.size() - low - 1] - sorted[low];
  return samples.single ? 0.5f * static_cast<float>(width) : 0.5 * width;
}

// numpy.mean in the type of the samples.
double mean_of(std::span<const double> values, bool single) {
  if (!single) return pairwise_mean(values);
  const std::vector<float> floats(values.begin(), values.end());
  return pairwise_mean(std::span<const float>(floats));
}

Confidence paired_confidence(const Samples& samples) {
  std::vector<double> sorted = samples.values;
  std::sort(sorted.begin(), sorted.end());
  return {mean_of(sorted, samples.single), half_width(samples)};
}

// How often random differences are larger than the observed one; the observed one counts as a
// trial.
double p_value(std::span<const double> differences, double seen) {
  const auto larger = std::count_if(differences.begin(), differences.end(),
                                    [seen](double difference) { return difference > seen; });
  return static_cast<double>(larger + 1) / static_cast<double>(differences.size() + 1);
}

double bootstrap_p_value(const Samples& baseline, const Samples& system, double seen) {
  const bool single = baseline.single && system.single;
  const auto round = [single](double x) { return single ? static_cast<float>(x) : x; };
  std::vector<double> differences;
  for (std::size_t i = 0; i < system.values.size(); ++i) {
    differences.push_back(std::abs(round(system.values[i] - baseline.values[i])));
  }
  const double mean = mean_of(differences, single);
  for (double& difference : differences) difference = round(difference - mean);
  return p_value(differences, round(seen));
}

// Sums of two systems after swapping their sentences at random.
struct Shuffled {
  Statistics a, b;
};

Shuffled swap_at_random(std::span<const Statistics> baseline, std::span<const Statistics> system,
                        NumpyRandom& random) {
  const std::size_t width = baseline[0].size();
  Shuffled sums{Statistics(width, 0.0), Statistics(width, 0.0)};
  for (std::size_t i = 0; i < baseline.size(); ++i) {
    const bool stay = random.coin();
    const Statistics& to_a = stay ? baseline[i] : system[i];
    const Statistics& to_b = stay ? system[i] : baseline[i];
    for (std::size_t k = 0; k < width; ++k) {
      sums.a[k] += to_a[k];
      sums.b[k] += to_b[k];
    }
  }
  return sums;
}

void check_systems(std::span<const std::vector<Statistics>> systems, const Trials& trials) {
  HEED_CHECK(systems.size() >= 2, "[score] a comparison needs two systems or more: there is {}",
             systems.size());
  for (const auto& system : systems) check(system, trials);
}

}  // namespace

Confidence bootstrap(const Metric& metric, std::span<const Statistics> sentences, Trials trials) {
  check(sentences, trials);
  const Samples samples = resample(metric, sentences, trials);
  const double mean = exact_mean(samples.values);
  return {samples.single ? static_cast<float>(mean) : mean, half_width(samples)};
}

std::vector<PairedResult> paired_bootstrap(const Metric& metric,
                                           std::span<const std::vector<Statistics>> systems,
                                           Trials trials) {
  check_systems(systems, trials);
  const Samples baseline = resample(metric, systems[0], trials);
  std::vector<PairedResult> results;
  for (const auto& system : systems) {
    PairedResult result{.score = total_score(metric, system).value};
    const bool is_baseline = results.empty();
    const Samples samples = is_baseline ? baseline : resample(metric, system, trials);
    result.confidence = paired_confidence(samples);
    if (!is_baseline) {
      const double seen = std::abs(results[0].score - result.score);
      result.p_value = bootstrap_p_value(baseline, samples, seen);
    }
    results.push_back(result);
  }
  return results;
}

std::vector<PairedResult> paired_randomisation(const Metric& metric,
                                               std::span<const std::vector<Statistics>> systems,
                                               Trials trials) {
  check_systems(systems, trials);
  std::vector<PairedResult> results;
  for (const auto& system : systems) {
    PairedResult result{.score = total_score(metric, system).value};
    if (!results.empty()) {
      NumpyRandom random(trials.seed);
      std::vector<double> differences;
      for (std::int64_t trial = 0; trial < trials.count; ++trial) {
        const Shuffled sums = swap_at_random(systems[0], system, random);
        differences.push_back(std::abs(metric.score(sums.a).value - metric.score(sums.b).value));
      }
      result.p_value = p_value(differences, std::abs(results[0].score - result.score));
    }
    results.push_back(result);
  }
  return results;
}

}  // namespace heed::evaluation
