#include "cli/pair_flags.h"

namespace heed::cli {

ParallelText PairFlags::open() const {
  const ParallelTextOptions options{.on_bad = on_bad == "skip" ? OnBad::skip : OnBad::stop};
  if (target.empty()) return {source, columns, options};
  return {source, target, options};
}

void add_pair_flags(CLI::App& verb, PairFlags& flags) {
  verb.add_option("source", flags.source, "the source's sentences, or a file with tabs")
      ->required();
  verb.add_option("target", flags.target, "the target's sentences; none: a column");
  verb.add_option("--source-column", flags.columns.source, "of a file with tabs, from 1")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  verb.add_option("--target-column", flags.columns.target, "of a file with tabs, from 1")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  verb.add_option("--on-bad", flags.on_bad, "what to do with bad lines")
      ->check(CLI::IsMember({"stop", "skip"}))
      ->capture_default_str();
}

}  // namespace heed::cli
