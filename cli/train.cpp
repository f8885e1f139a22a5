// heed train: trains a translator, a language model or a classifier from a config and flags, shows
// how it goes, and goes on where it stopped.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/config_flags.h"
#include "cli/run_training.h"
#include "cli/verbs.h"
#include "heed/io/config.h"
#include "heed/training/train_reference.h"

namespace heed::cli {
namespace {

struct TrainArguments {
  std::string config;
  bool resume = false;
  bool reference = false;
  std::vector<std::string> flags;  // "key=value"
  TrainLogOptions log;
  std::string tensorboard;  // a folder for event files
};

void train(const TrainArguments& arguments) {
  if (arguments.reference) return fmt::print("{}", train_reference());
  std::optional<TrainConfig> given;
  if (!arguments.config.empty()) io::load_config(arguments.config, given.emplace());
  const auto set_flags = [&](TrainConfig& config) { io::set_fields(config, arguments.flags); };
  run_training({.config = run_config(given, arguments.resume, set_flags),
                .resume = arguments.resume,
                .log = arguments.log,
                .tensorboard = arguments.tensorboard});
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
