#include "heed/plot/progress_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "heed/plot/table.h"

namespace heed::plot {
namespace {

constexpr std::int64_t kMostBar = 28, kLeastBar = 6;
constexpr std::int64_t kPercent = 6;  // " 100 %"

std::string bar(double share, std::int64_t width) {
  const auto full = std::llround(share * static_cast<double>(width));
  std::string text;
  for (std::int64_t i = 0; i < width; ++i) text += i < full ? "━" : "╌";
  return text;
}

// The first `columns` characters of a UTF-8 text.
std::string cut(const std::string& text, std::int64_t columns) {
  std::size_t end = 0;
  for (std::int64_t count = 0; end < text.size(); ++end) {
    const bool begins = (static_cast<unsigned char>(text[end]) & 0xc0) != 0x80;
    if (begins && ++count > columns) break;
  }
  return text.substr(0, end);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!word.empty()) text += (text.empty() ? "" : "  ") + word;
  }
  return text;
}

}  // namespace

std::string progress_text(const ProgressLine& line, std::int64_t columns) {
  const double given = line.share.value_or(0.0);
  const double share = std::isnan(given) ? 0.0 : std::clamp(given, 0.0, 1.0);
  std::vector<std::string> parts = line.parts;
  const auto text = [&](const std::string& drawn) {
    std::vector<std::string> words{line.title, drawn};
    words.insert(words.end(), parts.begin(), parts.end());
    words.push_back(line.time);
    return joined(words);
  };
  const std::int64_t room = columns - characters(text("")) - kPercent - 2;
  if (line.share && room >= kLeastBar) {
    const std::string percent = fmt::format(" {:>3.0f} %", std::floor(share * 100));
    return text(bar(share, std::min(room, kMostBar)) + percent);
  }
  while (!parts.empty() && characters(text("")) > columns) parts.pop_back();
  return cut(text(""), columns);
}

std::string duration_text(double seconds) {
  constexpr std::int64_t kMinute = 60, kHour = 3600, kDay = 86400;
  constexpr double kMostSeconds = 1e15;  // of what llround can return
  if (std::isnan(seconds) || seconds > kMostSeconds) return "?";
  const auto s = static_cast<std::int64_t>(std::llround(std::max(seconds, 0.0)));
  if (s < kMinute) return fmt::format("{} s", s);
  if (s < kHour) return fmt::format("{}:{:02}", s / kMinute, s % kMinute);
  if (s < kDay) {
    return fmt::format("{}:{:02}:{:02}", s / kHour, s % kHour / kMinute, s % kMinute);
  }
  return fmt::format("{} d {} h", s / kDay, s % kDay / kHour);
}

}  // namespace heed::plot
