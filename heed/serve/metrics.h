// The numbers of /metrics, in the text format of Prometheus. All functions may be called from any
// thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace heed::serve {

/// Counts values in ranges with fixed upper ends.
class Histogram {
 public:
  explicit Histogram(std::vector<double> ends)
      : ends_(std::move(ends)), counts_(ends_.size() + 1) {}

  void add(double value);
  /// The lines of a metric; `labels` is "" or `path="/translate"`.
  std::string lines(std::string_view name, const std::string& labels) const;

 private:
  std::vector<double> ends_;
  std::vector<std::int64_t> counts_;
  double sum_ = 0;
};

/// What a model is doing, for one reading of the metrics.
struct ModelGauge {
  std::string name;
  std::int64_t waiting = 0, running = 0;
};

class Metrics {
 public:
  Metrics();

  /// A request was answered.
  void answered(const std::string& route, int status, double seconds);
  /// A request was refused for a cause such as "queue" or "rate".
  void refused(const std::string& cause);
  /// Tokens that a model has read and written for a request.
  void add_tokens(const std::string& model, std::int64_t read, std::int64_t written);
  /// Requests of a model that were computed together when one of them ended.
  void add_batch(const std::string& model, std::int64_t running);

  std::atomic<std::int64_t> connections = 0, in_progress = 0, reloads = 0, failed_reloads = 0;

  std::string text(const std::vector<ModelGauge>& models) const;

 private:
  struct Tokens {
    std::int64_t read = 0, written = 0;
  };
  mutable std::mutex mutex_;
  double started_;  // seconds since 1970
  std::map<std::pair<std::string, int>, std::int64_t> answers_;
  std::map<std::string, Histogram> seconds_, batches_;
  std::map<std::string, std::int64_t> refusals_;
  std::map<std::string, Tokens> tokens_;
};

}  // namespace heed::serve
