// heed score REF… -i HYP…: BLEU, chrF and TER as sacreBLEU prints them; heed score --alignments
// GOLD HYP: the alignment error rate.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "cli/score_flags.h"
#include "cli/verbs.h"
#include "heed/base/error.h"
#include "heed/evaluation/alignment.h"
#include "heed/evaluation/alignment_report.h"
#include "heed/evaluation/resampling.h"
#include "heed/evaluation/score_files.h"
#include "heed/evaluation/systems_report.h"

namespace heed::cli {
namespace {

using namespace evaluation;  // NOLINT(google-build-using-namespace): the verb is about nothing else

struct System {
  std::string name;
  Lines lines;
};

using Metrics = std::vector<std::unique_ptr<Metric>>;

bool is_paired(const ScoreFlags& flags) { return flags.paired_bs || flags.paired_ar; }

std::vector<Lines> read_references(const ScoreFlags& flags) {
  if (flags.num_refs != 1) {
    HEED_CHECK(flags.files.size() == 1,
               "[score] --num-refs {} splits one file of references at tabs: there are {} files",
               flags.num_refs, flags.files.size());
    return read_columns(flags.files[0], flags.num_refs);
  }
  std::vector<Lines> references;
  for (const std::string& file : flags.files) references.push_back(read_lines(file));
  return references;
}

std::vector<System> read_systems(const ScoreFlags& flags) {
  std::vector<System> systems;
  if (flags.inputs.empty()) {
    for (Lines& lines : read_columns("-")) {
      const std::size_t number = systems.size() + (is_paired(flags) ? 0 : 1);
      systems.push_back(
          {number == 0 ? "Baseline" : fmt::format("System {}", number), std::move(lines)});
    }
    return systems;
  }
  for (const std::string& file : flags.inputs) {
    const auto same = [&](const System& system) { return system.name == file; };
    if (is_paired(flags) && !systems.empty() && same(systems[0])) continue;
    HEED_CHECK(std::none_of(systems.begin(), systems.end(), same),
               "[score] {} is given twice: name each system once", file);
    systems.push_back({file, read_lines(file)});
  }
  if (is_paired(flags)) systems[0].name = "Baseline: " + systems[0].name;
  return systems;
}

void check_lines(const ScoreFlags& flags, const std::vector<System>& systems,
                 const std::vector<Lines>& references) {
  HEED_CHECK(!systems.empty(),
             "[score] standard input is empty: give translations there or with -i");
  for (const System& system : systems) {
    HEED_CHECK(!system.lines.empty(), "[score] {} has no lines: there is nothing to score",
               system.name);
    for (std::size_t r = 0; r < references.size(); ++r) {
      HEED_CHECK(references[r].size() == system.lines.size(),
                 "[score] {} has {} lines, {} has {}: line for line one must translate the other",
                 system.name, system.lines.size(), flags.files[std::min(r, flags.files.size() - 1)],
                 references[r].size());
    }
  }
  HEED_CHECK(!is_paired(flags) || systems.size() > 1,
             "[score] a paired test compares several systems: give two or more files to -i");
  HEED_CHECK(!flags.confidence || systems.size() == 1,
             "[score] --confidence is of one system: compare {} systems with --paired-bs",
             systems.size());
  HEED_CHECK(!flags.sentence_level || (systems.size() == 1 && flags.metrics.size() == 1),
             "[score] --sentence-level has one system and one metric: there are {} and {}",
             systems.size(), flags.metrics.size());
  HEED_CHECK(!flags.sentence_level || !(flags.confidence || is_paired(flags)),
             "[score] --sentence-level cannot be resampled: leave out one of the two");
}

// One metric of each kind named, in the order of the flags, or of the names.
Metrics make_metrics(const ScoreFlags& flags, bool by_name) {
  std::vector<std::string> names;
  for (const std::string& name : flags.metrics) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  if (by_name) std::sort(names.begin(), names.end());
  BleuOptions bleu = flags.bleu;
  bleu.effective_order = flags.sentence_level;
  Metrics metrics;
  for (const std::string& name : names) {
    if (name == "bleu") metrics.push_back(std::make_unique<Bleu>(bleu));
    if (name == "chrf") metrics.push_back(std::make_unique<Chrf>(flags.chrf));
    if (name == "ter") metrics.push_back(std::make_unique<Ter>(flags.ter));
  }
  return metrics;
}

void warn_of_tokenised(const ScoreFlags& flags, const std::vector<System>& systems) {
  constexpr std::int64_t kMany = 100;
  const bool bleu =
      std::find(flags.metrics.begin(), flags.metrics.end(), "bleu") != flags.metrics.end();
  if (flags.quiet || flags.force || !bleu) return;
  for (const System& system : systems) {
    const auto count = std::count_if(system.lines.begin(), system.lines.end(),
                                     [](const std::string& line) { return line.ends_with(" ."); });
    if (count < kMany) continue;
    fmt::print(stderr,
               "heed: {} lines of {} end in \" .\", as tokenised text does; BLEU wants plain text "
               "(--force says that it is)\n",
               count, system.name);
  }
}

void print_sentences(const ScoreFlags& flags, const System& system,
                     const std::vector<Lines>& references) {
  const Metrics metrics = make_metrics(flags, true);
  const Signature signature{.references = references.size(), .metric = metrics[0]->signature()};
  Lines of_sentence(references.size());
  for (std::size_t i = 0; i < system.lines.size(); ++i) {
    for (std::size_t r = 0; r < references.size(); ++r) of_sentence[r] = references[r][i];
    const evaluation::Score score = sentence_score(*metrics[0], system.lines[i], of_sentence);
    fmt::print("{}\n", report_line({score, signature}, flags.style));
  }
}

void print_one(const ScoreFlags& flags, const System& system,
               const std::vector<Lines>& references) {
  std::vector<Reported> all;
  for (const auto& metric : make_metrics(flags, true)) {
    const std::vector<Statistics> sentences = corpus_statistics(*metric, system.lines, references);
    Reported reported{total_score(*metric, sentences),
                      {.references = references.size(), .metric = metric->signature()}};
    if (flags.confidence && flags.confidence_n > 1) {
      reported.confidence = bootstrap(*metric, sentences, {flags.confidence_n, flags.seed});
      reported.signature.bootstrap_trials = flags.confidence_n;
      reported.signature.seed = flags.seed;
    }
    all.push_back(std::move(reported));
  }
  fmt::print("{}", flags.format == "json" ? report_json(all, flags.style)
                                          : report_lines(all, flags.style));
}

MetricColumn compare(const ScoreFlags& flags, const Metric& metric,
                     const std::vector<System>& systems, const std::vector<Lines>& references) {
  MetricColumn column{
      metric.name(), {.references = references.size(), .metric = metric.signature()}, {}};
  std::vector<std::vector<Statistics>> statistics;
  for (const System& system : systems) {
    statistics.push_back(corpus_statistics(metric, system.lines, references));
  }
  column.signature.seed = flags.seed;
  if (flags.paired_bs) {
    column.signature.bootstrap_trials = flags.paired_bs_n;
    column.results = paired_bootstrap(metric, statistics, {flags.paired_bs_n, flags.seed});
  } else if (flags.paired_ar) {
    column.signature.randomised_trials = flags.paired_ar_n;
    column.results = paired_randomisation(metric, statistics, {flags.paired_ar_n, flags.seed});
  } else {
    for (const auto& sentences : statistics) {
      column.results.push_back({.score = total_score(metric, sentences).value});
    }
  }
  return column;
}

void print_several(const ScoreFlags& flags, const std::vector<System>& systems,
                   const std::vector<Lines>& references) {
  SystemsReport report;
  for (const System& system : systems) report.systems.push_back(system.name);
  if (flags.paired_bs) report.comparison = evaluation::Comparison::bootstrap;
  if (flags.paired_ar) report.comparison = evaluation::Comparison::randomisation;
  report.trials = flags.paired_bs ? flags.paired_bs_n : flags.paired_ar_n;
  for (const auto& metric : make_metrics(flags, !is_paired(flags))) {
    report.columns.push_back(compare(flags, *metric, systems, references));
  }
  const auto print = flags.format == "json"   ? systems_json
                     : flags.format == "text" ? systems_text
                                              : systems_latex;
  fmt::print("{}", print(report, flags.style));
}

void print_alignments(const ScoreFlags& flags) {
  HEED_CHECK(flags.files.size() == 2,
             "[score] --alignments takes two files, GOLD and the one to score: there are {}",
             flags.files.size());
  const AlignmentScore score = score_alignments(
      read_alignments(flags.files[0], flags.one_based ? 1 : 0), read_alignments(flags.files[1], 0));
  const int digits = flags.style.digits;
  if (flags.style.score_only) {
    fmt::print("{:.{}f}\n", 100 * score.error_rate, digits);
  } else if (flags.format == "json") {
    fmt::print("{}", report_json(score, digits));
  } else {
    fmt::print("{}\n", report_line(score, digits));
  }
}

void score(ScoreFlags flags) {
  // As in sacreBLEU, the environment overrides the flags.
  const char* const format = std::getenv("SACREBLEU_FORMAT");
  for (const std::string known : {"json", "text", "latex"}) {
    if (format != nullptr && format == known) flags.format = known;
  }
  const char* const no_color = std::getenv("NO_COLOR");
  const bool plain = flags.no_color || (no_color != nullptr && *no_color != '\0');
  flags.style.colour = !plain && flags.format != "json" && ::isatty(STDOUT_FILENO) == 1;

  if (flags.alignments) return print_alignments(flags);
  const std::vector<Lines> references = read_references(flags);
  const std::vector<System> systems = read_systems(flags);
  check_lines(flags, systems, references);
  warn_of_tokenised(flags, systems);
  if (flags.sentence_level) return print_sentences(flags, systems[0], references);
  systems.size() == 1 ? print_one(flags, systems[0], references)
                      : print_several(flags, systems, references);
}

}  // namespace

void add_score(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("score", "Score translations and word alignments");
  const auto flags = std::make_shared<ScoreFlags>();
  add_score_flags(*verb, *flags);
  verb->callback([flags] { score(*flags); });
}

}  // namespace heed::cli
