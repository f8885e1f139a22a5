#include "heed/serve/metrics.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include "heed/base/version.h"

namespace heed::serve {
namespace {

const std::vector<double> kSecondEnds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                         0.5,   1,      2.5,   5,    10,    25,   60};
const std::vector<double> kBatchEnds = {1, 2, 4, 8, 16, 32, 64, 128, 256};

std::string head(std::string_view name, std::string_view type, std::string_view help) {
  return fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

std::string one(std::string_view name, std::string_view type, std::string_view help,
                std::int64_t value) {
  return head(name, type, help) + fmt::format("{} {}\n", name, value);
}

std::int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

}  // namespace

void Histogram::add(double value) {
  const auto at = std::ranges::lower_bound(ends_, value) - ends_.begin();
  ++counts_[static_cast<std::size_t>(at)];
  sum_ += value;
}

std::string Histogram::lines(std::string_view name, const std::string& labels) const {
  std::string text;
  const std::string comma = labels.empty() ? "" : ",";
  std::int64_t count = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    count += counts_[i];
    const std::string end = i < ends_.size() ? fmt::format("{}", ends_[i]) : "+Inf";
    text += fmt::format("{}_bucket{{{}{}le=\"{}\"}} {}\n", name, labels, comma, end, count);
  }
  const std::string braces = labels.empty() ? "" : fmt::format("{{{}}}", labels);
  return text +
         fmt::format("{}_sum{} {}\n{}_count{} {}\n", name, braces, sum_, name, braces, count);
}

Metrics::Metrics()
    : started_(std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
                   .count()) {}

void Metrics::answered(const std::string& route, int status, double seconds) {
  const std::lock_guard lock(mutex_);
  ++answers_[{route, status}];
  seconds_.try_emplace(route, kSecondEnds).first->second.add(seconds);
}

void Metrics::refused(const std::string& cause) {
  const std::lock_guard lock(mutex_);
  ++refusals_[cause];
}

void Metrics::add_tokens(const std::string& model, std::int64_t read, std::int64_t written) {
  const std::lock_guard lock(mutex_);
  Tokens& tokens = tokens_[model];
  tokens.read += read;
  tokens.written += written;
}

void Metrics::add_batch(const std::string& model, std::int64_t running) {
  const std::lock_guard lock(mutex_);
  batches_.try_emplace(model, kBatchEnds).first->second.add(static_cast<double>(running));
}

std::string Metrics::text(const std::vector<ModelGauge>& models) const {
  const std::lock_guard lock(mutex_);
  std::string text = head("heed_build_info", "gauge", "Version of heed.");
  text += fmt::format("heed_build_info{{version=\"{}\"}} 1\n", version());
  text += head("heed_requests_total", "counter", "Answers by path and status.");
  for (const auto& [key, count] : answers_) {
    text += fmt::format("heed_requests_total{{path=\"{}\",status=\"{}\"}} {}\n", key.first,
                        key.second, count);
  }
  text += head("heed_request_seconds", "histogram", "Time from a request to its whole answer.");
  for (const auto& [route, seconds] : seconds_) {
    text += seconds.lines("heed_request_seconds", fmt::format("path=\"{}\"", route));
  }
  text += head("heed_refusals_total", "counter", "Requests that were refused, by cause.");
  for (const auto& [cause, count] : refusals_) {
    text += fmt::format("heed_refusals_total{{cause=\"{}\"}} {}\n", cause, count);
  }
  text += head("heed_tokens_total", "counter", "Tokens that models have read and written.");
  for (const auto& [model, tokens] : tokens_) {
    for (const auto& [kind, count] :
         {std::pair("read", tokens.read), {"written", tokens.written}}) {
      text += fmt::format("heed_tokens_total{{model=\"{}\",kind=\"{}\"}} {}\n", model, kind, count);
    }
  }
  text += head("heed_batch_requests", "histogram",
               "Texts that were computed together, whenever one of them ended.");
  for (const auto& [model, batch] : batches_) {
    text += batch.lines("heed_batch_requests", fmt::format("model=\"{}\"", model));
  }
  text += head("heed_queue_length", "gauge", "Texts that wait for a model.");
  for (const ModelGauge& model : models) {
    text += fmt::format("heed_queue_length{{model=\"{}\"}} {}\n", model.name, model.waiting);
  }
  text += head("heed_running", "gauge", "Texts that a model is computing.");
  for (const ModelGauge& model : models) {
    text += fmt::format("heed_running{{model=\"{}\"}} {}\n", model.name, model.running);
  }
  text += one("heed_connections", "gauge", "Open connections.", connections);
  text += one("heed_requests_in_progress", "gauge", "Requests without whole answer.", in_progress);
  text += one("heed_reloads_total", "counter", "Times the models were read again.", reloads);
  text += one("heed_failed_reloads_total", "counter", "Times that failed.", failed_reloads);
  text += one("process_resident_memory_bytes", "gauge", "Memory in use.", resident_bytes());
  text += head("process_start_time_seconds", "gauge", "Start of the process.");
  return text + fmt::format("process_start_time_seconds {:.3f}\n", started_);
}

}  // namespace heed::serve
