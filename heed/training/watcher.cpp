#include "heed/training/watcher.h"

#include <cmath>
#include <utility>

namespace heed {

std::optional<SampleMeans> means_of(const SampleSums& sums) {
  if (sums.samples == 0) return {};
  const auto n = static_cast<double>(sums.samples);
  return SampleMeans{sums.reward / n, sums.entropy / n};
}

void TrainingWatchers::began(std::int64_t update) {
  for (TrainingWatcher* const watcher : all_) watcher->began(update);
}

void TrainingWatchers::updated(const UpdateReport& report) {
  for (TrainingWatcher* const watcher : all_) watcher->updated(report);
}

void TrainingWatchers::validating() {
  for (TrainingWatcher* const watcher : all_) watcher->validating();
}

void TrainingWatchers::validated(const ValidationReport& report) {
  for (TrainingWatcher* const watcher : all_) watcher->validated(report);
}

void TrainingWatchers::saved(const std::filesystem::path& folder) {
  for (TrainingWatcher* const watcher : all_) watcher->saved(folder);
}

void UpdateWindow::add(const UpdateReport& report) {
  if (report.skipped) {
    ++skipped_;
    return;
  }
  sum_.loss += report.loss;
  sum_.negative_log_likelihood += report.negative_log_likelihood;
  sum_.source_tokens += report.source_tokens;
  sum_.target_tokens += report.target_tokens;
  sum_.seconds += report.seconds;
  sum_.sampled.reward += report.sampled.reward;
  sum_.sampled.entropy += report.sampled.entropy;
  sum_.sampled.samples += report.sampled.samples;
  sum_.ranks.resize(report.ranks.size());
  for (std::size_t r = 0; r < report.ranks.size(); ++r) {
    sum_.ranks[r].target_tokens += report.ranks[r].target_tokens;
    sum_.ranks[r].compute += report.ranks[r].compute;
    sum_.ranks[r].waiting += report.ranks[r].waiting;
    sum_.ranks[r].communication += report.ranks[r].communication;
  }
  ++count_;
}

UpdateWindow::Mean UpdateWindow::mean() const {
  const auto n = static_cast<double>(count_);
  return {.loss = sum_.loss / n,
          .perplexity = std::exp(sum_.negative_log_likelihood / n),
          .source_rate = static_cast<double>(sum_.source_tokens) / sum_.seconds,
          .target_rate = static_cast<double>(sum_.target_tokens) / sum_.seconds,
          .skipped = skipped_,
          .sampled = means_of(sum_.sampled),
          .ranks = sum_.ranks};
}

UpdateWindow::Mean UpdateWindow::take() {
  const Mean taken = mean();
  *this = {};
  return taken;
}

}  // namespace heed
