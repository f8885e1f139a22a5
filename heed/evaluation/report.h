// The scores of one system as sacreBLEU prints them: JSON, or one line per metric.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "heed/evaluation/metric.h"
#include "heed/evaluation/resampling.h"

namespace heed::evaluation {

/// A score with its signature and confidence interval.
struct Reported {
  Score score;
  Signature signature = {};
  std::optional<Confidence> confidence = {};
};

/// The format of reports.
struct ReportStyle {
  int digits = 1;                ///< Decimal digits.
  bool score_only = false;       ///< Print only the number.
  bool short_signature = false;  ///< For lines only; JSON has the long form.
  bool colour = false;           ///< For a terminal; lines and tables only.
};

/// Terminal colours, by their ANSI numbers.
enum class Colour { red = 31, green = 32, yellow = 33, cyan = 36 };

/// The text in that colour if style.colour is set.
std::string paint(std::string_view text, Colour colour, const ReportStyle& style);

/// "BLEU|nrefs:1|… = 27.4 58.9/33.0/… (BP = …)", without a line end.
std::string report_line(const Reported& reported, const ReportStyle& style);

/// One line per score, with aligned = signs, each with a line end.
std::string report_lines(std::span<const Reported> all, const ReportStyle& style);

/// One JSON object, or a list of them if there are several scores, followed by a line end.
std::string report_json(std::span<const Reported> all, const ReportStyle& style);

}  // namespace heed::evaluation
