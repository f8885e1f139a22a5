#include "heed/data/line_check.h"

#include "heed/base/error.h"
#include "heed/text/unicode.h"

namespace heed {
namespace {

bool is_blank(std::string_view line) {
  while (!line.empty()) {
    const unicode::CodePoint c = unicode::front(line);
    if (!unicode::is_space(c.value)) return false;
    line.remove_prefix(c.bytes);
  }
  return true;
}

}  // namespace

std::string_view name_of(BadLine kind) {
  constexpr std::string_view kNames[kBadLineKinds] = {"with broken UTF-8", "with NUL bytes",
                                                      "empty", "too long",
                                                      "with missing columns or unknown labels"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::optional<LineFault> find_fault(std::string_view line, std::size_t max_bytes) {
  if (line.size() > max_bytes) {
    return LineFault{BadLine::too_long,
                     fmt::format("has {} bytes, more than {}", line.size(), max_bytes)};
  }
  if (const std::size_t nul = line.find('\0'); nul != std::string_view::npos) {
    return LineFault{BadLine::nul, fmt::format("has a NUL byte at byte {}", nul + 1)};
  }
  if (const auto bad = unicode::find_invalid(line)) {
    return LineFault{BadLine::utf8, fmt::format("has broken UTF-8 at byte {} (0x{:02X})", *bad + 1,
                                                static_cast<unsigned char>(line[*bad]))};
  }
  if (is_blank(line)) return LineFault{BadLine::empty, "is empty"};
  return std::nullopt;
}

void BadLines::add(const LineFault& fault, const std::string& place, OnBad on_bad) {
  HEED_CHECK(on_bad == OnBad::skip,
             "[text] {} {}: fix the file, or skip bad lines with on_bad = \"skip\"", place,
             fault.what);
  Entry& entry = all_[static_cast<std::size_t>(fault.kind)];
  if (entry.count++ == 0) entry.first = place;
}

std::int64_t BadLines::total() const {
  std::int64_t sum = 0;
  for (const Entry& entry : all_) sum += entry.count;
  return sum;
}

std::string BadLines::describe() const {
  std::string text;
  for (std::size_t i = 0; i < kBadLineKinds; ++i) {
    if (all_[i].count == 0) continue;
    text += fmt::format("{}{} {} (first: {})", text.empty() ? "" : ", ", all_[i].count,
                        name_of(static_cast<BadLine>(i)), all_[i].first);
  }
  return text;
}

}  // namespace heed
