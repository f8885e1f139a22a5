#include "heed/plot/svg.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "heed/base/error.h"
#include "heed/text/unicode.h"

namespace heed::plot {
namespace {

// Two decimals are a hundredth of a pixel; trailing zeros are dropped to keep files small. All
// numbers of a picture come through here, so that none of them is invalid.
std::string number(double x) {
  HEED_CHECK(std::isfinite(x), "[svg] a position or size is {}: give finite numbers", x);
  std::string text = fmt::format("{:.2f}", x);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string stroke_text(const Stroke& stroke) {
  std::string text =
      fmt::format(R"(stroke="{}" stroke-width="{}")", stroke.color, number(stroke.width));
  if (!stroke.dashes.empty()) text += fmt::format(R"( stroke-dasharray="{}")", stroke.dashes);
  return text;
}

std::string box_text(const Box& box) {
  return fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}")", number(box.x), number(box.y),
                     number(box.width), number(box.height));
}

}  // namespace

std::string escape_xml(std::string_view text) {
  // XML has neither U+FFFE nor U+FFFF, and discourages all other code points without a character.
  const auto is_character = [](char32_t c) {
    return (c & 0xfffe) != 0xfffe && (c < 0xfdd0 || c > 0xfdef);
  };
  std::string result;
  for (const char32_t c : unicode::decode(text)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        if (c >= 0x20 && (c < 0x7f || c >= 0xa0)) {
          unicode::append(result, is_character(c) ? c : unicode::kReplacement);
        }
    }
  }
  return result;
}

Svg::Svg(double width, double height, std::string_view label) {
  body_ = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {}" width="{}" height="{}" )"
      R"(role="img" aria-label="{}" font-family="Helvetica, Arial, 'Noto Sans CJK SC', sans-serif">)"
      "\n",
      number(width), number(height), number(width), number(height), escape_xml(label));
  box({0, 0, width, height}, "#ffffff");
}

void Svg::box(const Box& at, std::string_view fill) {
  body_ += fmt::format(R"({} fill="{}" shape-rendering="crispEdges"/>)"
                       "\n",
                       box_text(at), fill);
}

void Svg::boxes(std::span<const Box> all, std::string_view fill) {
  body_ += fmt::format(R"(<path fill="{}" shape-rendering="crispEdges" d=")", fill);
  for (const Box& b : all) {
    body_ += fmt::format("M{} {}h{}v{}h-{}z", number(b.x), number(b.y), number(b.width),
                         number(b.height), number(b.width));
  }
  body_ += "\"/>\n";
}

void Svg::frame(const Box& at, const Stroke& stroke) {
  body_ += fmt::format(R"({} fill="none" {}/>)"
                       "\n",
                       box_text(at), stroke_text(stroke));
}

void Svg::line(Point from, Point to, const Stroke& stroke) {
  body_ +=
      fmt::format(R"(<line x1="{}" y1="{}" x2="{}" y2="{}" {}/>)"
                  "\n",
                  number(from.x), number(from.y), number(to.x), number(to.y), stroke_text(stroke));
}

void Svg::path(std::span<const Point> points, const Stroke& stroke) {
  body_ += R"(<polyline fill="none" stroke-linejoin="round" points=")";
  for (const Point& p : points) body_ += fmt::format("{},{} ", number(p.x), number(p.y));
  body_ += fmt::format(R"(" {}/>)"
                       "\n",
                       stroke_text(stroke));
}

void Svg::dot(Point at, double radius, std::string_view fill) {
  body_ += fmt::format(R"(<circle cx="{}" cy="{}" r="{}" fill="{}"/>)"
                       "\n",
                       number(at.x), number(at.y), number(radius), fill);
}

void Svg::text(Point at, std::string_view words, const Font& font) {
  body_ += fmt::format(R"(<text x="{}" y="{}" font-size="{}" text-anchor="{}" fill="{}")",
                       number(at.x), number(at.y), number(font.size), font.anchor, font.color);
  if (font.bold) body_ += R"( font-weight="bold")";
  if (font.turn != 0.0) {
    body_ += fmt::format(R"x( transform="rotate({} {} {})")x", number(font.turn), number(at.x),
                         number(at.y));
  }
  body_ += fmt::format(">{}</text>\n", escape_xml(words));
}

void Svg::begin_group(std::string_view title) {
  body_ += fmt::format("<g><title>{}</title>\n", escape_xml(title));
}
void Svg::end_group() { body_ += "</g>\n"; }

std::string Svg::finish() const { return body_ + "</svg>\n"; }

}  // namespace heed::plot
