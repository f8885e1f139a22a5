// heed train: trains a translator, a language model or a classifier from a config and flags, shows
// the progress, and resumes stopped runs.
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
  std::vector<std::string> flags;        // "section.key=value"
  std::vector<std::string> model_flags;  // "key=value", for the section of the task
  TrainLogOptions log;
  std::string tensorboard;  // folder for event files
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

void train(const TrainArguments& arguments) {
  if (arguments.reference) return fmt::print("{}", train_reference());
  std::optional<TrainConfig> given;
  if (!arguments.config.empty()) io::load_config(arguments.config, given.emplace());
  const auto set_flags = [&](TrainConfig& config) {
    // All flags are set together: one by one, a flag may be invalid until the next is set.
    std::vector<std::string> flags = arguments.flags;
    const std::string_view section = section_of(config, flags);
    for (const std::string& flag : arguments.model_flags) {
      flags.push_back(fmt::format("{}.{}", section, flag));
    }
    io::set_fields(config, flags);
  };
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
  verb->add_flag("--resume", arguments->resume,
                 "continue from the newest checkpoint of the folder");
  verb->add_flag("--reference", arguments->reference,
                 "print every key of a config as Markdown, and nothing else");
  add_log_options(*verb, arguments->log);
  verb->add_option("--tensorboard", arguments->tensorboard,
                   "a folder to write event files for TensorBoard into");
  // Not TrainConfig{}: if memory runs out in that, GCC 12 destroys members that are not there yet.
  TrainConfig defaults;
  const std::vector<io::FieldInfo> fields = io::list_fields(defaults);
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
  verb->callback([arguments] { train(*arguments); });
}

}  // namespace heed::cli
