// The scores of several systems side by side as sacreBLEU prints them: JSON, a table in a frame, or
// LaTeX; with p-values where the systems were compared with the first. The table and the signatures
// are sacreBLEU's to the byte; the explanation below the table is our own.
#pragma once

#include <string>
#include <vector>

#include "heed/evaluation/report.h"
#include "heed/evaluation/resampling.h"

namespace heed::evaluation {

/// How systems were compared.
enum class Comparison { none, bootstrap, randomisation };

struct MetricColumn {
  std::string name;
  Signature signature;
  std::vector<PairedResult> results;  ///< One for each system.
};

struct SystemsReport {
  std::vector<std::string> systems;
  std::vector<MetricColumn> columns;
  Comparison comparison = Comparison::none;
  std::int64_t trials = 0;
};

/// A JSON list of an object for each system.
std::string systems_json(const SystemsReport& report, const ReportStyle& style);

/// A table, the explanation of a comparison, and the signatures.
std::string systems_text(const SystemsReport& report, const ReportStyle& style);

/// The same with the table in LaTeX.
std::string systems_latex(const SystemsReport& report, const ReportStyle& style);

}  // namespace heed::evaluation
