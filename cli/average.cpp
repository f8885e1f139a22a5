// heed average: writes the mean of checkpoints as a model.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/verbs.h"
#include "heed/base/error.h"
#include "heed/io/paths.h"
#include "heed/training/average.h"
#include "heed/training/checkpoints.h"

namespace heed::cli {
namespace {

struct AverageArguments {
  std::vector<std::string> folders;
  std::string model;
  std::int64_t last = 5;
  std::string out;
};

// The given folders, or the last checkpoints of a training run.
std::vector<std::filesystem::path> chosen(const AverageArguments& arguments) {
  std::vector<std::filesystem::path> folders(arguments.folders.begin(), arguments.folders.end());
  HEED_CHECK(folders.empty() != arguments.model.empty(),
             "[average] give either the folders of models, or --model and --last");
  if (!folders.empty()) return folders;
  HEED_CHECK(io::is_folder(arguments.model), "[average] there is no folder {}", arguments.model);
  const Checkpoints checkpoints(arguments.model, 0);
  const std::vector<std::int64_t> updates = checkpoints.updates();
  HEED_CHECK(std::ssize(updates) >= arguments.last,
             "[average] {} has {} checkpoints, not {}: lower --last", arguments.model,
             updates.size(), arguments.last);
  for (auto update = updates.end() - arguments.last; update != updates.end(); ++update) {
    folders.push_back(checkpoints.folder(*update));
  }
  return folders;
}

void average(const AverageArguments& arguments) {
  const std::vector<std::filesystem::path> folders = chosen(arguments);
  average_models(folders, arguments.out);
  fmt::print("{}: the mean of {} models\n", arguments.out, folders.size());
}

}  // namespace

void add_average(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("average", "Write the mean of checkpoints as a model");
  const auto arguments = std::make_shared<AverageArguments>();
  verb->add_option("folders", arguments->folders, "models to average");
  verb->add_option("-m,--model", arguments->model,
                   "the folder of a training run, instead of folders");
  verb->add_option("--last", arguments->last, "number of its last checkpoints")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  verb->add_option("-o,--output", arguments->out, "folder to write; it must not exist yet")
      ->required();
  verb->callback([arguments] { average(*arguments); });
}

}  // namespace heed::cli
