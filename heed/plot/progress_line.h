// A progress bar as one line of text that fits a width. When and where it is drawn is the program's
// affair.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heed::plot {

struct ProgressLine {
  std::string title;
  std::optional<double> share = {};     ///< From 0 to 1; none: nobody knows the end, so no bar.
  std::vector<std::string> parts = {};  ///< What stands behind the bar, the most important first.
  std::string time = {};                ///< At the end; it stays when parts have to go.
};

/// At most so many characters: the bar shrinks first and goes, then the last parts do.
std::string progress_text(const ProgressLine& line, std::int64_t columns);

/// Seconds as people read them: "42 s", "3:07", "2:15:00", "3 d 4 h".
std::string duration_text(double seconds);

}  // namespace heed::plot
