// The command line of `heed score`.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "heed/evaluation/bleu.h"
#include "heed/evaluation/chrf.h"
#include "heed/evaluation/report.h"
#include "heed/evaluation/ter.h"

namespace heed::cli {

struct ScoreFlags {
  std::vector<std::string> files;   // references; for alignments: the gold one and the one to score
  std::vector<std::string> inputs;  // outputs of systems; none: standard input
  std::size_t num_refs = 1;
  bool alignments = false;
  bool one_based = false;

  std::vector<std::string> metrics = {"bleu"};
  bool sentence_level = false;
  evaluation::BleuOptions bleu;
  evaluation::ChrfOptions chrf;
  evaluation::TerOptions ter;
  bool force = false;

  bool confidence = false;
  std::int64_t confidence_n = 1000;
  bool paired_bs = false;
  std::int64_t paired_bs_n = 1000;
  bool paired_ar = false;
  std::int64_t paired_ar_n = 10000;
  std::uint64_t seed = 12345;

  std::string format = "json";
  evaluation::ReportStyle style;
  bool no_color = false;
  bool quiet = false;
};

/// Binds the flags, which have sacreBLEU's names.
void add_score_flags(CLI::App& verb, ScoreFlags& flags);

}  // namespace heed::cli
