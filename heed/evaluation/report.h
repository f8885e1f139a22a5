// The scores of one system as sacreBLEU prints them: JSON, or a line for each metric.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "heed/evaluation/metric.h"
#include "heed/evaluation/resampling.h"

namespace heed::evaluation {

/// One score and what is said about it.
struct Reported {
  Score score;
  Signature signature = {};
  std::optional<Confidence> confidence = {};
};

struct ReportStyle {
  int digits = 1;                ///< Behind the point.
  bool score_only = false;       ///< Nothing but the number.
  bool short_signature = false;  ///< Lines only; JSON has the long one.
  bool colour = false;           ///< For a terminal; lines and tables only.
};

/// Colours of a terminal, by their ANSI numbers.
enum class Colour { red = 31, green = 32, yellow = 33, cyan = 36 };

/// The text in that colour, if colours are wanted.
std::string paint(std::string_view text, Colour colour, const ReportStyle& style);

/// "BLEU|nrefs:1|… = 27.4 58.9/33.0/… (BP = …)", without the line's end.
std::string report_line(const Reported& reported, const ReportStyle& style);

/// A line for each score, their = signs under each other, each with its line end.
std::string report_lines(std::span<const Reported> all, const ReportStyle& style);

/// One JSON object, or a list of them if there are several scores, with a line end.
std::string report_json(std::span<const Reported> all, const ReportStyle& style);

}  // namespace heed::evaluation
