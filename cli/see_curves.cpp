// heed see curves DIR… -o FILE.svg: draws the curves of training runs.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/verbs.h"
#include "heed/base/error.h"
#include "heed/io/file.h"
#include "heed/plot/curves.h"

namespace heed::cli {
namespace {

struct CurvesArguments {
  std::vector<std::string> folders;
  std::string out;
  bool log_updates = false;
};

void draw_curves(const CurvesArguments& arguments) {
  HEED_CHECK(arguments.out.ends_with(".svg"), "[see] -o {}: the file's name must end in .svg",
             arguments.out);
  std::vector<plot::TrainingRun> runs;
  for (const std::string& folder : arguments.folders) runs.push_back(plot::read_run(folder));
  io::write_file(arguments.out, plot::curves_svg(runs, arguments.log_updates));
  fmt::print("{}\n", arguments.out);
}

}  // namespace

void add_see_curves(CLI::App& see) {
  CLI::App* const verb = see.add_subcommand("curves", "Draw the curves of training runs");
  const auto arguments = std::make_shared<CurvesArguments>();
  verb->add_option("folder", arguments->folders, "folder of a training run, finished or running")
      ->required();
  verb->add_option("-o,--output", arguments->out, "the SVG file to write")->required();
  verb->add_flag("--log-x", arguments->log_updates, "logarithmic axis of updates");
  verb->callback([arguments] { draw_curves(*arguments); });
}

}  // namespace heed::cli
