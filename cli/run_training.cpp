#include "cli/run_training.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

#include "heed/base/error.h"
#include "heed/base/threads.h"
#include "heed/io/config.h"
#include "heed/io/folder_lock.h"
#include "heed/training/curves.h"
#include "heed/training/event_file.h"
#include "heed/training/make_job.h"
#include "heed/training/trainer.h"

namespace heed::cli {
namespace {

std::atomic<bool> interrupted = false;

// The first time training is asked to save and end; the second time it ends at once, which loses
// only what came behind the last checkpoint.
extern "C" void note_signal(int number) {
  if (!interrupted.exchange(true)) return;
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, "\n", 1);  // behind the bar
  std::signal(number, SIG_DFL);
  std::raise(number);
}

}  // namespace

Outcome run_training(const TrainingRun& run) {
  const TrainConfig& config = run.config;
  const Checkpoints checkpoints(config.model, config.trainer.keep_last);
  const io::FolderLock lock(config.model, "train");
  const auto newest = checkpoints.last();
  HEED_CHECK(!newest || run.resume,
             "[train] {} holds checkpoints of an earlier run: --resume goes on with it; for a new "
             "one give another folder",
             config.model);
  if (config.cpu_threads > 0) set_num_threads(static_cast<int>(config.cpu_threads));
  const auto log = make_train_log(run.log, parse_frequency(config.trainer.after, "after"));
  const MadeJob made = make_job(config, newest);
  io::save_config(std::filesystem::path(config.model) / kUsedConfig, config);
  for (const std::string& note : made.notes) log->note(note);
  log->note(
      fmt::format("{} parameters, {} threads", made.job->model().parameter_count(), num_threads()));
  CurveWriter curves(config.model);
  EventWriter events(run.tensorboard, run.log.disp_freq);
  TrainingWatchers watchers;
  watchers.add(curves);
  if (!run.tensorboard.empty()) watchers.add(events);
  watchers.add(*log);
  std::signal(SIGINT, note_signal);
  std::signal(SIGTERM, note_signal);
  Trainer trainer(*made.job, config.trainer,
                  {.folder = config.model, .interrupted = [] { return interrupted.load(); }},
                  &watchers);
  if (trainer.resume()) {
    log->note(fmt::format("going on from update {}", trainer.progress().updates));
  }
  const Outcome outcome = trainer.run();
  log->finish(outcome, trainer.progress());
  return outcome;
}

}  // namespace heed::cli
