#include "cli/train_log.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>

namespace heed::cli {

void add_log_options(CLI::App& verb, TrainLogOptions& options) {
  verb.add_option("--disp-freq", options.disp_freq, "updates between lines")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

void TrainLog::note(const std::string& text) { fmt::print(stderr, "{}\n", text); }

void TrainLog::updated(const UpdateReport& report) {
  sum_.loss += report.loss;
  sum_.likelihood += report.likelihood;
  sum_.source_tokens += report.source_tokens;
  sum_.target_tokens += report.target_tokens;
  sum_.seconds += report.seconds;
  ++count_;
  if (report.update % options_.disp_freq != 0) return;
  const auto n = static_cast<double>(count_);
  fmt::print(stderr,
             "epoch {:.2f}  update {}  loss {:.4f}  ppl {:.2f}  rate {:.3g}  norm {:.2f}  {:.0f} "
             "source/s  {:.0f} target/s\n",
             report.epoch, report.update, sum_.loss / n, std::exp(sum_.likelihood / n), report.rate,
             report.gradient_norm, static_cast<double>(sum_.source_tokens) / sum_.seconds,
             static_cast<double>(sum_.target_tokens) / sum_.seconds);
  sum_ = {};
  count_ = 0;
}

void TrainLog::validated(const ValidationReport& report) {
  std::string text;
  for (const Judgement& judgement : report.judgements) {
    text += fmt::format("  {} {:.4f}", judgement.name, judgement.value);
  }
  fmt::print(stderr, "epoch {:.2f}  update {}  validation{}{}\n", report.epoch, report.update, text,
             report.best ? "  best" : fmt::format("  no gain for {}", report.stalled));
}

void TrainLog::saved(const std::filesystem::path& folder) {
  fmt::print(stderr, "saved {}\n", folder.string());
}

void TrainLog::finish(Outcome outcome, const TrainingProgress& progress) {
  const char* const why = outcome == Outcome::finished  ? "finished"
                          : outcome == Outcome::stalled ? "stopped: no gain any more"
                                                        : "interrupted; --resume goes on";
  fmt::print(stderr, "{} after {} updates\n", why, progress.updates);
}

}  // namespace heed::cli
