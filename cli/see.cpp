// heed see pattern [NAME…] -o FILE.svg: draws the weights of mechanisms.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "cli/verbs.h"
#include "heed/attention/registry.h"
#include "heed/base/error.h"
#include "heed/io/file.h"
#include "heed/plot/pattern.h"

namespace heed::cli {
namespace {

struct PatternArguments {
  std::vector<std::string> names;
  std::string out;
  plot::PatternOptions pattern;
};

// Draws the first head of several mechanisms side by side, or all heads of one.
void draw_pattern(const PatternArguments& arguments) {
  HEED_CHECK(arguments.out.ends_with(".svg"), "[see] -o {}: the file's name must end in .svg",
             arguments.out);
  std::vector<const Mechanism*> chosen;
  for (const std::string& name : arguments.names) chosen.push_back(&find_mechanism(name));
  if (chosen.empty()) {
    for (const Mechanism& mechanism : mechanisms()) chosen.push_back(&mechanism);
  }
  std::vector<plot::Heatmap> maps;
  for (const Mechanism* const mechanism : chosen) {
    std::vector<plot::Heatmap> heads = plot::pattern_of(*mechanism, arguments.pattern);
    if (chosen.size() > 1) {
      heads.resize(1);
      heads[0].title = mechanism->name;
    }
    maps.insert(maps.end(), heads.begin(), heads.end());
  }
  const double cell = chosen.size() == 1 ? 7.0 : 5.0;
  io::write_file(arguments.out, plot::heatmap_svg(maps, {.cell = cell}));
  fmt::print("{}\n", arguments.out);
}

}  // namespace

void add_see(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("see", "Draw pictures");
  verb->require_subcommand(1);
  CLI::App* const pattern =
      verb->add_subcommand("pattern", "Draw what attention mechanisms attend to");
  const auto arguments = std::make_shared<PatternArguments>();
  pattern->add_option("name", arguments->names, "mechanisms; none: all of them");
  pattern->add_option("-o,--output", arguments->out, "the SVG file to write")->required();
  pattern->add_option("--positions", arguments->pattern.positions, "length of the sequence")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  pattern->add_flag("--causal", arguments->pattern.causal,
                    "positions attend only to earlier ones and themselves");
  pattern->add_option("--option", arguments->pattern.options, "option of the layer, as key=value");
  pattern->callback([arguments] { draw_pattern(*arguments); });
  add_see_curves(*verb);
  add_see_attention(*verb);
  add_see_positions(*verb);
}

}  // namespace heed::cli
