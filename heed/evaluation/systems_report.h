// The scores of several systems side by side as sacreBLEU prints them: JSON, a framed table, or
// LaTeX, with p-values if the systems were compared with the first one. The table and the
// signatures are equal to sacreBLEU's, byte for byte; the explanation below the table differs.
#pragma once

#include <string>
#include <vector>

#include "heed/evaluation/report.h"
#include "heed/evaluation/resampling.h"

namespace heed::evaluation {

/// How systems were compared.
enum class Comparison { none, bootstrap, randomisation };

/// The results of one metric.
struct MetricColumn {
  std::string name;
  Signature signature;
  std::vector<PairedResult> results;  ///< One per system.
};

/// The results of all systems.
struct SystemsReport {
  std::vector<std::string> systems;
  std::vector<MetricColumn> columns;
  Comparison comparison = Comparison::none;
  std::int64_t trials = 0;
};

/// A JSON list with one object per system.
std::string systems_json(const SystemsReport& report, const ReportStyle& style);

/// A table, the explanation of a comparison, and the signatures.
std::string systems_text(const SystemsReport& report, const ReportStyle& style);

/// The same with the table in LaTeX.
std::string systems_latex(const SystemsReport& report, const ReportStyle& style);

}  // namespace heed::evaluation
