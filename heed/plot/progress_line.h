// A progress bar as one line of text that fits a width. The program decides when and where to print
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heed::plot {

/// The content of a progress bar.
struct ProgressLine {
  std::string title;
  std::optional<double> share = {};     ///< From 0 to 1; unset if the end is unknown: no bar.
  std::vector<std::string> parts = {};  ///< Texts after the bar, the most important first.
  std::string time = {};                ///< At the end; kept when parts are dropped.
};

/// The line in at most `columns` characters: first the bar shrinks and disappears, then the last
/// parts.
std::string progress_text(const ProgressLine& line, std::int64_t columns);

/// A duration in readable form: "42 s", "3:07", "2:15:00", "3 d 4 h".
std::string duration_text(double seconds);

}  // namespace heed::plot
