// heed compare: compares convolution, recurrence, self-attention and restricted self-attention, by
// formula and as measured.
#include <fmt/format.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "cli/progress.h"
#include "cli/verbs.h"
#include "heed/base/error.h"
#include "heed/io/file.h"
#include "heed/plot/comparison.h"

namespace heed::cli {
namespace {

struct CompareFlags {
  ComparisonConfig config;
  bool quick = false;
  bool json = false;
  std::string picture;
};

// Values that flags have set are kept.
void make_quick(const CLI::App& verb, ComparisonConfig& config) {
  const ComparisonConfig quick = ComparisonConfig::quick();
  if (verb.count("--lengths") == 0) config.lengths = quick.lengths;
  if (verb.count("--sizes") == 0) config.sizes = quick.sizes;
  if (verb.count("--path-lengths") == 0) config.path_lengths = quick.path_lengths;
  if (verb.count("--runs") == 0) config.runs = quick.runs;
}

Comparison run(const ComparisonConfig& config, bool quiet) {
  std::optional<Progress> bar;
  return compare_layers(config,
                        [&](std::int64_t done, std::int64_t total, const std::string& next) {
                          if (quiet) return;
                          if (!bar) bar.emplace("measuring", total);
                          bar->update(done, next);
                        });
}

void compare(const CompareFlags& flags) {
  // Checked before the minute of measuring, not after it.
  flags.config.validate();
  HEED_CHECK(flags.picture.empty() || flags.picture.ends_with(".svg"),
             "[compare] -o {}: the file's name must end in .svg", flags.picture);
  const Comparison comparison = run(flags.config, flags.json || isatty(STDOUT_FILENO) == 0);
  if (flags.json) {
    fmt::print("{}\n", plot::comparison_json(comparison));
  } else {
    fmt::print("Sequence layers of equal width: {}\n", plot::comparison_conditions(comparison));
    for (const plot::Table& table : plot::comparison_tables(comparison)) {
      fmt::print("\n{}", plot::table_text(table));
    }
  }
  if (flags.picture.empty()) return;
  io::write_file(flags.picture, plot::comparison_svg(comparison));
  if (!flags.json) fmt::print("\nThe picture is in {}\n", flags.picture);
}

}  // namespace

void add_compare(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand(
      "compare", "Compare convolution, recurrence and self-attention: cost, paths, crossover");
  const auto flags = std::make_shared<CompareFlags>();
  ComparisonConfig& config = flags->config;
  verb->add_option("--lengths", config.lengths, "positions n, rising")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  verb->add_option("--sizes", config.sizes, "features d, rising")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 16))
      ->capture_default_str();
  verb->add_option("--path-lengths", config.path_lengths, "positions n for counting paths")
      ->delimiter(',')
      ->check(CLI::Range(2, 1 << 12))
      ->capture_default_str();
  verb->add_option("--batch", config.batch, "sequences in a call")
      ->check(CLI::Range(1, 1 << 16))
      ->capture_default_str();
  verb->add_option("--kernel", config.kernel, "kernel size k of the convolution")
      ->check(CLI::Range(2, 1 << 10))
      ->capture_default_str();
  verb->add_option("--neighbours", config.neighbours,
                   "r: positions on each side in restricted self-attention")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  verb->add_option("--recurrence", config.recurrence, "gru or lstm")
      ->check(CLI::IsMember({"gru", "lstm"}))
      ->capture_default_str();
  verb->add_option("--runs", config.runs, "runs of each call; the best counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->add_flag("--backward", config.backward, "measure the backward pass too");
  verb->add_flag("--quick", flags->quick, "small sizes, a few seconds");
  verb->add_flag("--json", flags->json, "every number as JSON instead of tables");
  verb->add_option("-o,--output", flags->picture, "SVG file to write");
  verb->callback([flags, verb] {
    if (flags->quick) make_quick(*verb, flags->config);
    compare(*flags);
  });
}

}  // namespace heed::cli
