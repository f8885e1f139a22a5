// heed train: trains a translator, a language model or a classifier from a config and flags, shows
// the progress, and resumes stopped runs.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/config_flags.h"
#include "cli/ranked.h"
#include "cli/run_training.h"
#include "cli/supervise.h"
#include "cli/verbs.h"
#include "heed/distributed/collectives.h"
#include "heed/io/config.h"
#include "heed/training/train_reference.h"

namespace heed::cli {
namespace {

struct TrainArguments {
  std::string config;
  bool resume = false;
  bool reference = false;
  std::vector<std::string> flags;        // "section.key=value"
  std::vector<std::string> model_flags;  // "key=value", for the section of the task
  TrainLogOptions log;
  std::string tensorboard;  // folder for event files
  Supervision supervision;
};

// The section of the model that a config trains, after the flags are applied.
std::string_view section_of(const TrainConfig& config, const std::vector<std::string>& flags) {
  TrainConfig chosen;
  chosen.task = config.task;
  chosen.kind = config.kind;
  std::vector<std::string> own;
  for (const std::string& flag : flags) {
    if (flag.starts_with("task=") || flag.starts_with("kind=")) own.push_back(flag);
  }
  io::set_fields(chosen, own);
  return chosen.model_kind().name;
}

int train(const TrainArguments& arguments) {
  if (arguments.reference) {
    fmt::print("{}", train_reference());
    return 0;
  }
  const auto set_flags = [&](TrainConfig& config) {
    // All flags are set together: one by one, a flag may be invalid until the next is set.
    std::vector<std::string> flags = arguments.flags;
    const std::string_view section = section_of(config, flags);
    for (const std::string& flag : arguments.model_flags) {
      flags.push_back(fmt::format("{}.{}", section, flag));
    }
    io::set_fields(config, flags);
  };
  const auto read_config = [&] {
    std::optional<TrainConfig> given;
    if (!arguments.config.empty()) io::load_config(arguments.config, given.emplace());
    return run_config(given, arguments.resume, set_flags);
  };
  if (arguments.supervision.ranks > 0) {
    Supervision supervision = arguments.supervision;
    supervision.model = read_config().model;
    return supervise(supervision);
  }
  run_ranked([&](Communicator* ranks) {
    LoggedRun run{.config = {},
                  .resume = arguments.resume,
                  .log = arguments.log,
                  .tensorboard = arguments.tensorboard,
                  .ranks = ranks};
    const auto read = [&] { run.config = read_config(); };
    ranks != nullptr ? together(*ranks, read) : read();
    run_training(run);
  });
  return 0;
}

}  // namespace

void add_train(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand(
      "train", "Train a model for any task: translation, text, labels, pictures and more");
  const auto arguments = std::make_shared<TrainArguments>();
  verb->add_option("-c,--config", arguments->config,
                   "a TOML or JSON file; every key is also a flag")
      ->check(CLI::ExistingFile);
  verb->add_flag("--resume", arguments->resume,
                 "continue from the newest checkpoint of the folder");
  verb->add_flag("--reference", arguments->reference,
                 "print every key of a config as Markdown, and nothing else");
  add_log_options(*verb, arguments->log);
  verb->add_option("--tensorboard", arguments->tensorboard,
                   "a folder to write event files for TensorBoard into");
  verb->add_option("--ranks", arguments->supervision.ranks,
                   "start this many processes with the launcher, and supervise them")
      ->check(CLI::Range(1, 1 << 16));
  verb->add_option("--restarts", arguments->supervision.restarts,
                   "with --ranks: start them again, at most this many times, if one is lost")
      ->check(CLI::Range(0, 1 << 30));
  verb->add_option("--launcher", arguments->supervision.launcher,
                   "with --ranks: the command before heed's own; {} is the number of ranks")
      ->capture_default_str();
  const std::vector<io::FieldInfo> fields = io::list_fields(TrainConfig());
  add_config_flags(*verb, fields, arguments->flags);
  verb->add_option_function<std::int64_t>(
      "--lora-rank",
      [arguments](std::int64_t rank) {
        arguments->flags.push_back(fmt::format("lora.rank={}", rank));
      },
      "the same as --lora.rank");
  std::vector<std::string_view> sections;
  for (const ModelKind& kind : model_kinds()) sections.push_back(kind.name);
  add_section_flags(*verb, fields, sections, arguments->model_flags);
  verb->callback([arguments] {
    const int code = train(*arguments);
    if (code != 0) throw CLI::RuntimeError(code);
  });
}

}  // namespace heed::cli
