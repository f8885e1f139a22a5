#include "cli/run_training.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

namespace heed::cli {
namespace {

std::atomic<bool> interrupted = false;
// Launchers of MPI may send a signal twice, and end ranks that do not stop by themselves.
std::atomic<bool> is_launched = false;

// The first signal makes training save and stop. The second ends the program at once, which loses
// only what came after the last checkpoint.
extern "C" void note_signal(int number) {
  if (!interrupted.exchange(true) || is_launched) return;
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, "\n", 1);  // after the bar
  std::signal(number, SIG_DFL);
  std::raise(number);
}

// Handles signals from the beginning of training, when there is something to save, to its end.
// Before and after, they end the program as usual.
class SignalWatcher : public TrainingWatcher {
 public:
  SignalWatcher() = default;
  ~SignalWatcher() override { handle(SIG_DFL); }
  SignalWatcher(const SignalWatcher&) = delete;
  SignalWatcher& operator=(const SignalWatcher&) = delete;

  void began(std::int64_t) override { handle(note_signal); }

 private:
  static void handle(void (*handler)(int)) {
    std::signal(SIGINT, handler);
    std::signal(SIGTERM, handler);
    std::signal(SIGUSR1, handler);
  }
};

}  // namespace

Outcome run_training(const LoggedRun& run) {
  const bool is_first = run.ranks == nullptr || run.ranks->is_first();
  is_launched = run.ranks != nullptr;
  const auto log = is_first
                       ? make_train_log(run.log, parse_frequency(run.config.trainer.after, "after"))
                       : make_quiet_log();
  SignalWatcher signals;
  TrainingWatchers watchers;
  watchers.add(signals);
  watchers.add(*log);
  const auto [outcome, progress] =
      heed::run_training({.config = run.config,
                          .resume = run.resume,
                          .tensorboard = run.tensorboard,
                          .tensorboard_freq = run.log.disp_freq,
                          .ranks = run.ranks},
                         {.note = [&](const std::string& text) { log->note(text); },
                          .watcher = &watchers,
                          .interrupted = [] { return interrupted.load(); }});
  log->finish(outcome, progress);
  return outcome;
}

}  // namespace heed::cli
