#include "cli/train_log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

#include "cli/progress.h"
#include "heed/plot/progress_line.h"

namespace heed::cli {
namespace {

// Lines to standard error.
class PlainLog : public TrainLog {
 public:
  explicit PlainLog(std::int64_t disp_freq) : disp_freq_(disp_freq) {}

  void note(const std::string& text) override { fmt::print(stderr, "{}\n", text); }

  void updated(const UpdateReport& report) override {
    tell_skipped(report);
    window_.add(report);
    if (report.update % disp_freq_ != 0 || window_.empty()) return;
    const UpdateWindow::Mean mean = window_.take();
    const double elapsed =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    note(fmt::format(
        "epoch {:.2f}  update {}  loss {:.4f}  ppl {:.2f}  {}rate {:.3g}  norm {:.2f}  "
        "{:.0f} source/s  {:.0f} target/s  {}",
        report.epoch, report.update, mean.loss, mean.perplexity, sampled_text(mean), report.rate,
        report.gradient_norm, mean.source_rate, mean.target_rate, plot::duration_text(elapsed)));
    tell_ranks(mean.ranks);
  }

  void validated(const ValidationReport& report) override {
    std::string text;
    for (const Judgement& judgement : report.judgements) {
      text += fmt::format("  {} {:.4f}", judgement.name, judgement.value);
    }
    note(fmt::format("epoch {:.2f}  update {}  validation{}{}", report.epoch, report.update, text,
                     report.best ? "  best" : fmt::format("  no gain for {}", report.stalled)));
    if (report.finite) return;
    note(
        "this value is not finite, so it is never the best; if the training loss is not finite "
        "either, lower schedule.peak or set clip_norm");
  }

  void saved(const std::filesystem::path& folder) override {
    note(fmt::format("saved {}", folder.string()));
  }

  void finish(Outcome outcome, const TrainingProgress& progress) override {
    const char* const why = outcome == Outcome::finished  ? "finished"
                            : outcome == Outcome::stalled ? "stopped: no gain any more"
                                                          : "interrupted; --resume goes on";
    note(fmt::format(
        "{} after {} updates{}", why, progress.updates,
        progress.skipped > 0 ? fmt::format(", {} of them skipped", progress.skipped) : ""));
  }

 protected:
  void tell_skipped(const UpdateReport& report) {
    if (!report.skipped) return;
    note(fmt::format("update {} skipped: loss {:.4g}, gradient norm {:.4g}; the model is as before",
                     report.update, report.loss, report.gradient_norm));
  }

 private:
  // How the ranks spent their time since the last line.
  void tell_ranks(const std::vector<RankReport>& ranks) {
    std::vector<double> computing;
    std::string text = "ranks";
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const RankReport& rank = ranks[r];
      const double all = rank.compute + rank.waiting + rank.communication;
      text += fmt::format("{} {}: {:.0f} target/s, waits {:.0f} %, exchanges {:.0f} %",
                          r == 0 ? "" : ";", r, static_cast<double>(rank.target_tokens) / all,
                          100.0 * rank.waiting / all, 100.0 * rank.communication / all);
      computing.push_back(rank.compute);
    }
    if (ranks.empty()) return;
    note(text);
    constexpr double kSlow = 1.5;  // times the median
    std::vector<double> sorted = computing;
    std::ranges::sort(sorted);
    const double median = sorted[(sorted.size() - 1) / 2];
    for (std::size_t r = 0; r < computing.size(); ++r) {
      if (computing[r] <= kSlow * median) continue;
      note(fmt::format(
          "rank {} is slow: it computes {:.1f} times as long as others, which wait for it", r,
          computing[r] / median));
    }
  }

  // What attention sampled, if it samples.
  static std::string sampled_text(const UpdateWindow::Mean& mean) {
    if (!mean.sampled) return "";
    return fmt::format("reward {:.4f}  entropy {:.3f}  ", mean.sampled->reward,
                       mean.sampled->entropy);
  }

  std::int64_t disp_freq_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  UpdateWindow window_;
};

// A bar for updates, and lines above it.
class BarLog : public PlainLog {
 public:
  explicit BarLog(const Frequency& after) : PlainLog(1), after_(after) {}

  void note(const std::string& text) override { bar_ ? bar_->line(text) : PlainLog::note(text); }

  void updated(const UpdateReport& report) override {
    tell_skipped(report);
    if (!bar_) begin(report);
    if (!report.skipped) average(report);
    report_ = report;
    bar_->update(done(report), parts());
  }

  void validating() override {
    bar_->update(done(report_), {"validating", epoch_text(), update_text()});
    bar_->draw();
  }

  void validated(const ValidationReport& report) override {
    bar_->update(done(report_), parts());
    PlainLog::validated(report);
  }

  void finish(Outcome outcome, const TrainingProgress& progress) override {
    if (bar_) bar_->draw();
    bar_.reset();
    PlainLog::finish(outcome, progress);
  }

 private:
  // The bar divides an epoch into this many parts.
  static constexpr double kParts = 1e6;

  bool by_epochs() const { return after_.unit == Frequency::Unit::epochs; }

  std::int64_t done(const UpdateReport& report) const {
    return by_epochs() ? std::llround(report.epoch * kParts) : report.update;
  }

  // Called at the first update: only then the length of an epoch in updates can be estimated.
  void begin(const UpdateReport& report) {
    const auto total = by_epochs() ? after_.count * std::llround(kParts) : after_.count;
    bar_.emplace("", total,
                 ProgressOptions{.stream = stderr, .first = done(report), .force = true});
  }

  // Averages over some updates, so that numbers are readable; times and tokens too.
  void average(const UpdateReport& report) {
    constexpr double kMemory = 50.0;
    ++averaged_;
    const double weight = 1.0 / std::min(static_cast<double>(averaged_), kMemory);
    const auto mix = [&](double& mean, double value) { mean += weight * (value - mean); };
    mix(loss_, report.loss);
    mix(nll_, report.negative_log_likelihood);
    mix(target_tokens_, static_cast<double>(report.target_tokens));
    mix(seconds_, report.seconds);
  }

  std::string epoch_text() const { return fmt::format("epoch {:.2f}", report_.epoch); }
  std::string update_text() const {
    return by_epochs() || after_.count == 0 ? fmt::format("update {}", report_.update)
                                            : fmt::format("{}/{}", report_.update, after_.count);
  }
  std::vector<std::string> parts() const {
    if (averaged_ == 0) return {epoch_text(), update_text()};
    return {epoch_text(), update_text(), fmt::format("loss {:.3f}", loss_),
            fmt::format("ppl {:.4g}", std::exp(nll_)),
            fmt::format("{:.0f} tok/s", target_tokens_ / seconds_)};
  }

  Frequency after_;
  std::optional<Progress> bar_;
  UpdateReport report_;
  std::int64_t averaged_ = 0;
  double loss_ = 0.0, nll_ = 0.0, target_tokens_ = 0.0, seconds_ = 0.0;
};

}  // namespace

void add_log_options(CLI::App& verb, TrainLogOptions& options) {
  verb.add_option("--disp-freq", options.disp_freq, "updates between lines")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  verb.add_option("--log-format", options.format,
                  "bar; plain lines; json, an object a line to standard output; auto: bar on a "
                  "terminal, else plain")
      ->check(CLI::IsMember({"auto", "bar", "plain", "json"}))
      ->capture_default_str();
}

std::unique_ptr<TrainLog> make_quiet_log() {
  struct QuietLog : TrainLog {
    void note(const std::string&) override {}
    void finish(Outcome, const TrainingProgress&) override {}
  };
  return std::make_unique<QuietLog>();
}

std::unique_ptr<TrainLog> make_train_log(const TrainLogOptions& options, const Frequency& after) {
  if (options.format == "json") return make_json_log(options.disp_freq);
  const bool bar = options.format == "bar" || (options.format == "auto" && is_terminal(stderr));
  if (bar) return std::make_unique<BarLog>(after);
  return std::make_unique<PlainLog>(options.disp_freq);
}

}  // namespace heed::cli
