// The log of heed train for programs. docs/how-to/train.md lists the keys, which are stable.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <utility>

#include "cli/train_log.h"
#include "heed/io/json.h"
#include "heed/training/report_tree.h"

namespace heed::cli {
namespace {

// JSON cannot represent numbers that are not finite.
io::Value number(double value) {
  if (!std::isfinite(value)) return {};
  return {value};
}

io::Value::Table with_json_numbers(io::Value::Table table) {
  for (auto& [key, value] : table) {
    if (const double* const found = value.floating()) value = number(*found);
    if (const auto* const inner = value.table()) value = {with_json_numbers(*inner)};
  }
  return table;
}

class JsonLog : public TrainLog {
 public:
  explicit JsonLog(std::int64_t disp_freq) : disp_freq_(disp_freq) {}

  void note(const std::string& text) override { print("note", {{"text", {text}}}); }
  void began(std::int64_t update) override { print("begin", {{"update", {update}}}); }

  void updated(const UpdateReport& report) override {
    if (report.skipped) {
      print("skip", {{"update", {report.update}},
                     {"epoch", number(report.epoch)},
                     {"loss", number(report.loss)},
                     {"norm", number(report.gradient_norm)}});
    }
    window_.add(report);
    if (report.update % disp_freq_ != 0 || window_.empty()) return;
    const UpdateWindow::Mean mean = window_.take();
    io::Value::Table members = {{"update", {report.update}},
                                {"epoch", number(report.epoch)},
                                {"loss", number(mean.loss)},
                                {"perplexity", number(mean.perplexity)},
                                {"rate", number(report.rate)},
                                {"norm", number(report.gradient_norm)},
                                {"source_tokens_per_second", number(mean.source_rate)},
                                {"target_tokens_per_second", number(mean.target_rate)},
                                {"skipped", {mean.skipped}}};
    if (mean.sampled) {
      members.emplace_back("reward", number(mean.sampled->reward));
      members.emplace_back("entropy", number(mean.sampled->entropy));
    }
    if (!mean.ranks.empty()) {
      io::Value::List ranks;
      for (const RankReport& rank : mean.ranks) {
        const double all = rank.compute + rank.waiting + rank.communication;
        ranks.push_back({io::Value::Table{
            {"target_tokens_per_second", number(static_cast<double>(rank.target_tokens) / all)},
            {"waiting", number(rank.waiting / all)},
            {"communication", number(rank.communication / all)}}});
      }
      members.emplace_back("ranks", io::Value{std::move(ranks)});
    }
    print("update", std::move(members));
  }

  void validated(const ValidationReport& report) override {
    print("validation", with_json_numbers(tree_of(report)));
  }

  void saved(const std::filesystem::path& folder) override {
    print("save", {{"folder", {folder.string()}}});
  }

  void finish(Outcome outcome, const TrainingProgress& progress) override {
    const char* const name = outcome == Outcome::finished  ? "finished"
                             : outcome == Outcome::stalled ? "stalled"
                                                           : "interrupted";
    print("end", {{"outcome", {std::string(name)}},
                  {"update", {progress.updates}},
                  {"skipped", {progress.skipped}}});
  }

 private:
  static void print(const char* event, io::Value::Table members) {
    members.insert(members.begin(), {"event", {std::string(event)}});
    fmt::print("{}\n", io::write_json({std::move(members)}, false));
    std::fflush(stdout);
  }

  std::int64_t disp_freq_;
  UpdateWindow window_;
};

}  // namespace

std::unique_ptr<TrainLog> make_json_log(std::int64_t disp_freq) {
  return std::make_unique<JsonLog>(disp_freq);
}

}  // namespace heed::cli
