// heed see curves DIR… -o FILE.svg: how training runs went, as a picture.
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
  CLI::App* const verb = see.add_subcommand("curves", "Draw how training runs went");
  const auto arguments = std::make_shared<CurvesArguments>();
  verb->add_option("folder", arguments->folders, "that heed train has trained into, or trains into")
      ->required();
  verb->add_option("-o,--output", arguments->out, "the SVG file to write")->required();
  verb->add_flag("--log-x", arguments->log_updates, "the axis of updates is logarithmic");
  verb->callback([arguments] { draw_curves(*arguments); });
}

}  // namespace heed::cli
