#include "heed/evaluation/systems_report.h"

#include <fmt/format.h>

#include "heed/evaluation/grid.h"
#include "heed/evaluation/python_format.h"

namespace heed::evaluation {
namespace {

constexpr double kSignificant = 0.05;

bool is_paired(const SystemsReport& report) { return report.comparison != Comparison::none; }

std::string json_result(const PairedResult& result) {
  const auto or_null = [](bool known, double value) { return known ? shortest(value) : "null"; };
  const bool resampled = result.confidence.has_value();
  const Confidence confidence = result.confidence.value_or(Confidence{});
  const char* const indent = "            ";
  return fmt::format(
      "{{\n{0}\"score\": {1},\n{0}\"p_value\": {2},\n{0}\"mean\": {3},\n{0}\"ci\": {4}\n        }}",
      indent, shortest(result.score),
      or_null(result.p_value.has_value(), result.p_value.value_or(0)),
      or_null(resampled, confidence.mean), or_null(resampled, confidence.half_width));
}

// "27.4 (27.3 ± 0.5)" and the p-value, on a separate line or after a blank.
std::string cell_text(const PairedResult& result, const ReportStyle& style, char line_break) {
  std::string text = fixed(result.score, style.digits);
  if (result.confidence) {
    text += fmt::format(" ({} ± {})", fixed(result.confidence->mean, style.digits),
                        fixed(result.confidence->half_width, style.digits));
  }
  if (result.p_value) {
    const std::string p = fmt::format("(p = {:.4f})", *result.p_value);
    text += line_break + (*result.p_value > kSignificant ? paint(p, Colour::red, style) : p + "*");
  }
  return text;
}

Grid make_grid(const SystemsReport& report, const ReportStyle& style, char line_break) {
  Grid grid{{paint("System", Colour::cyan, style)}, {}};
  for (const MetricColumn& column : report.columns) {
    const bool resampled = report.comparison == Comparison::bootstrap;
    grid.header.push_back(
        paint(column.name + (resampled ? " (μ ± 95% CI)" : ""), Colour::cyan, style));
  }
  for (std::size_t i = 0; i < report.systems.size(); ++i) {
    std::vector<std::string> row = {report.systems[i]};
    for (const MetricColumn& column : report.columns) {
      row.push_back(cell_text(column.results[i], style, line_break));
    }
    if (i == 0 && is_paired(report)) {
      for (std::string& cell : row) cell = paint(cell, Colour::yellow, style);
    }
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

std::string explanation(const SystemsReport& report, const ReportStyle& style) {
  const bool resampled = report.comparison == Comparison::bootstrap;
  const std::string title = fmt::format(
      "Paired {} test with {} {}", resampled ? "bootstrap resampling" : "approximate randomization",
      report.trials, resampled ? "resampling trials" : "trials");
  const std::string rule(title.size(), '-');
  std::string text = fmt::format("{}\n{}\n{}\n", rule, title, rule);
  text += fmt::format(" - Every system is compared with {}.\n",
                      paint(report.systems[0], Colour::yellow, style));
  text += resampled
              ? "   A cell has the score, and in brackets mean and 95% interval over the trials.\n"
              : "   A cell has the score.\n";
  text += fmt::format(
      " - p is the chance of a difference this large between two systems that are equally good.\n"
      "   Up to {} it is marked with *; otherwise it is {}.\n"
      " - A small p says that the systems differ, not which one is better: the scores do.\n\n",
      kSignificant, paint("red on a terminal", Colour::red, style));
  return text;
}

std::string footer(const SystemsReport& report, const ReportStyle& style) {
  std::string text = is_paired(report) ? explanation(report, style) : "";
  text += "-----------------\nMetric signatures\n-----------------\n";
  for (const MetricColumn& column : report.columns) {
    text += fmt::format(" - {:<10} {}\n", column.name,
                        to_string(column.signature, style.short_signature));
  }
  return text;
}

}  // namespace

std::string systems_json(const SystemsReport& report, const ReportStyle& style) {
  std::vector<std::string> systems;
  for (std::size_t i = 0; i < report.systems.size(); ++i) {
    std::string text = fmt::format("    {{\n        \"system\": {}", ascii_json(report.systems[i]));
    for (const MetricColumn& column : report.columns) {
      const PairedResult& result = column.results[i];
      text += fmt::format(
          ",\n        {}: {}", ascii_json(column.name),
          is_paired(report) ? json_result(result) : ascii_json(fixed(result.score, style.digits)));
    }
    systems.push_back(text + "\n    }");
  }
  return fmt::format("[\n{}\n]\n", fmt::join(systems, ",\n"));
}

std::string systems_text(const SystemsReport& report, const ReportStyle& style) {
  return grid_text(make_grid(report, style, '\n')) + "\n" + footer(report, style);
}

std::string systems_latex(const SystemsReport& report, const ReportStyle& style) {
  ReportStyle plain = style;
  plain.colour = false;
  return grid_latex(make_grid(report, plain, ' ')) + "\n" + footer(report, style);
}

}  // namespace heed::evaluation
