// heed train: trains a translator, a language model or a classifier from a config and flags, shows
// how it goes, and goes on where it stopped.
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "cli/config_flags.h"
#include "cli/train_log.h"
#include "cli/verbs.h"
#include "heed/base/error.h"
#include "heed/base/threads.h"
#include "heed/io/config.h"
#include "heed/io/folder_lock.h"
#include "heed/training/curves.h"
#include "heed/training/event_file.h"
#include "heed/training/make_job.h"
#include "heed/training/train_reference.h"
#include "heed/training/trainer.h"

namespace heed::cli {
namespace {

constexpr const char* kUsedConfig = "train.toml";

std::atomic<bool> interrupted = false;

// The first time training is asked to save and end; the second time it ends at once, which loses
// only what came behind the last checkpoint.
extern "C" void note_signal(int number) {
  if (!interrupted.exchange(true)) return;
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, "\n", 1);  // behind the bar
  std::signal(number, SIG_DFL);
  std::raise(number);
}

struct TrainArguments {
  std::string config;
  bool resume = false;
  bool reference = false;
  std::vector<std::string> flags;  // "key=value"
  TrainLogOptions log;
  std::string tensorboard;  // a folder for event files
};

// What the file says and then the flags; a run that goes on without a file has its own.
TrainConfig read_config(const TrainArguments& arguments) {
  TrainConfig config;
  if (!arguments.config.empty()) io::load_config(arguments.config, config);
  io::set_fields(config, arguments.flags);
  HEED_CHECK(!config.model.empty(), "[train] no folder to train into: give --model DIR");
  const std::filesystem::path used = std::filesystem::path(config.model) / kUsedConfig;
  if (arguments.config.empty() && arguments.resume && std::filesystem::exists(used)) {
    TrainConfig before;
    io::load_config(used, before);
    io::set_fields(before, arguments.flags);
    return before;
  }
  return config;
}

void train(const TrainArguments& arguments) {
  if (arguments.reference) return fmt::print("{}", train_reference());
  const TrainConfig config = read_config(arguments);
  const Checkpoints checkpoints(config.model, config.trainer.keep_last);
  const io::FolderLock lock(config.model, "train");
  const auto newest = checkpoints.last();
  HEED_CHECK(!newest || arguments.resume,
             "[train] {} holds checkpoints of an earlier run: --resume goes on with it; for a new "
             "one give another folder",
             config.model);
  if (config.cpu_threads > 0) set_num_threads(static_cast<int>(config.cpu_threads));
  const auto log = make_train_log(arguments.log, parse_frequency(config.trainer.after, "after"));
  const MadeJob made = make_job(config, newest);
  io::save_config(std::filesystem::path(config.model) / kUsedConfig, config);
  for (const std::string& note : made.notes) log->note(note);
  log->note(
      fmt::format("{} parameters, {} threads", made.job->model().parameter_count(), num_threads()));
  CurveWriter curves(config.model);
  EventWriter events(arguments.tensorboard, arguments.log.disp_freq);
  TrainingWatchers watchers;
  watchers.add(curves);
  if (!arguments.tensorboard.empty()) watchers.add(events);
  watchers.add(*log);
  std::signal(SIGINT, note_signal);
  std::signal(SIGTERM, note_signal);
  Trainer trainer(*made.job, config.trainer,
                  {.folder = config.model, .interrupted = [] { return interrupted.load(); }},
                  &watchers);
  if (trainer.resume()) {
    log->note(fmt::format("going on from update {}", trainer.progress().updates));
  }
  log->finish(trainer.run(), trainer.progress());
}

}  // namespace

void add_train(CLI::App& app) {
  CLI::App* const verb =
      app.add_subcommand("train", "Train a translator, a language model or a classifier");
  const auto arguments = std::make_shared<TrainArguments>();
  verb->add_option("-c,--config", arguments->config,
                   "a TOML or JSON file; every key is also a flag")
      ->check(CLI::ExistingFile);
  verb->add_flag("--resume", arguments->resume, "go on with the newest checkpoint of the folder");
  verb->add_flag("--reference", arguments->reference,
                 "print every key of a config as Markdown, and nothing else");
  add_log_options(*verb, arguments->log);
  verb->add_option("--tensorboard", arguments->tensorboard,
                   "a folder to write event files for TensorBoard into");
  add_config_flags(*verb, io::list_fields(TrainConfig{}), arguments->flags);
  verb->callback([arguments] { train(*arguments); });
}

}  // namespace heed::cli
