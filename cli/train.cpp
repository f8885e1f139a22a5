// heed train: trains a translator, a language model or a classifier from a config and flags, shows
// how it goes, and goes on where it stopped.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/config_flags.h"
#include "cli/run_training.h"
#include "cli/verbs.h"
#include "heed/base/error.h"
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
  run_training({.config = read_config(arguments),
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
