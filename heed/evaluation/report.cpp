#include "heed/evaluation/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "heed/evaluation/python_format.h"
#include "heed/io/json.h"
#include "heed/text/unicode.h"

namespace heed::evaluation {
namespace {

// A mean of 0 or less is not shown: sacreBLEU treats it as not computed.
bool shows_confidence(const Reported& reported) {
  return reported.confidence && reported.confidence->mean > 0;
}

std::string confidence_text(const Reported& reported, const ReportStyle& style) {
  return fmt::format("μ = {} ± {}", fixed(reported.confidence->mean, style.digits),
                     fixed(reported.confidence->half_width, style.digits));
}

std::string number_text(const Reported& reported, const ReportStyle& style) {
  std::string text = fixed(reported.score.value, style.digits);
  if (shows_confidence(reported)) {
    text += ' ';
    text += paint(fmt::format("({})", confidence_text(reported, style)), Colour::cyan, style);
  }
  return text;
}

// A number in JSON, rounded to digits.
std::string rounded(double value, int digits) {
  return shortest(std::strtod(fixed(value, digits).c_str(), nullptr));
}

std::string json_object(const Reported& reported, const ReportStyle& style) {
  std::vector<std::string> members;
  const auto add = [&](const std::string& key, const std::string& value) {
    members.push_back(fmt::format(" {}: {}", io::quote_json(key), value));
  };
  add("name", io::quote_json(reported.score.name));
  add("score", rounded(reported.score.value, style.digits));
  add("signature", io::quote_json(to_string(reported.signature, false)));
  if (shows_confidence(reported)) {
    add("confidence_mean", rounded(reported.confidence->mean, style.digits));
    add("confidence_var", rounded(reported.confidence->half_width, style.digits));
    add("confidence", io::quote_json(confidence_text(reported, style)));
  }
  if (!reported.score.details.empty()) {
    add("verbose_score", io::quote_json(reported.score.details));
  }
  for (const SignatureItem& item : items(reported.signature)) {
    add(item.key, io::quote_json(item.value));
  }
  return fmt::format("{{\n{}\n}}", fmt::join(members, ",\n"));
}

// The number of characters before the first " =".
std::optional<std::size_t> before_equals(const std::string& line) {
  const std::size_t at = line.find(" =");
  if (at == line.npos) return std::nullopt;
  return unicode::decode(std::string_view(line).substr(0, at)).size();
}

}  // namespace

std::string paint(std::string_view text, Colour colour, const ReportStyle& style) {
  if (!style.colour) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", static_cast<int>(colour), text);
}

std::string report_line(const Reported& reported, const ReportStyle& style) {
  if (style.score_only) return number_text(reported, style);
  std::string line = fmt::format("{}|{} = {}", reported.score.name,
                                 to_string(reported.signature, style.short_signature),
                                 number_text(reported, style));
  if (!reported.score.details.empty()) line += fmt::format(" {}", reported.score.details);
  return line;
}

std::string report_lines(std::span<const Reported> all, const ReportStyle& style) {
  std::vector<std::string> lines;
  std::size_t widest = 0;
  for (const Reported& reported : all) {
    lines.push_back(report_line(reported, style));
    widest = std::max(widest, before_equals(lines.back()).value_or(0));
  }
  std::string text;
  for (const std::string& line : lines) {
    text += std::string(widest - before_equals(line).value_or(widest), ' ') + line + "\n";
  }
  return text;
}

std::string report_json(std::span<const Reported> all, const ReportStyle& style) {
  std::vector<std::string> objects;
  for (const Reported& reported : all) {
    objects.push_back(style.score_only ? number_text(reported, style)
                                       : json_object(reported, style));
  }
  if (objects.size() == 1) return objects[0] + "\n";
  return fmt::format("[\n{}\n]\n", fmt::join(objects, ",\n"));
}

}  // namespace heed::evaluation
