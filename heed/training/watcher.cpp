#include "heed/training/watcher.h"

#include <cmath>
#include <utility>

namespace heed {

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
  ++count_;
}

UpdateWindow::Mean UpdateWindow::mean() const {
  const auto n = static_cast<double>(count_);
  return {.loss = sum_.loss / n,
          .perplexity = std::exp(sum_.negative_log_likelihood / n),
          .source_rate = static_cast<double>(sum_.source_tokens) / sum_.seconds,
          .target_rate = static_cast<double>(sum_.target_tokens) / sum_.seconds,
          .skipped = skipped_};
}

UpdateWindow::Mean UpdateWindow::take() {
  const Mean taken = mean();
  *this = {};
  return taken;
}

}  // namespace heed
