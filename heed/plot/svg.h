// A picture as SVG text: rectangles, lines and texts, in the order in which they are drawn.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace heed::plot {

/// A point in pixels.
struct Point {
  double x = 0.0, y = 0.0;
};

/// A rectangle in pixels.
struct Box {
  double x = 0.0, y = 0.0, width = 0.0, height = 0.0;
};

/// How a line is drawn.
struct Stroke {
  std::string_view color = "#333333";
  double width = 1.0;
  std::string_view dashes = "";  ///< As in SVG: "4 2"; empty: a solid line.
};

/// How text is drawn.
struct Font {
  double size = 12.0;
  std::string_view anchor = "start";  ///< start, middle or end.
  std::string_view color = "#222222";
  bool bold = false;
  double turn = 0.0;  ///< Rotation in degrees, clockwise around the point.
};

/// Builds an SVG picture. Positions and sizes must be finite.
class Svg {
 public:
  /// An empty white picture; `label` is its description for screen readers.
  Svg(double width, double height, std::string_view label);

  void box(const Box& box, std::string_view fill);
  /// Many boxes of one color, as one shape.
  void boxes(std::span<const Box> boxes, std::string_view fill);
  void frame(const Box& box, const Stroke& stroke = {});
  void line(Point from, Point to, const Stroke& stroke = {});
  void path(std::span<const Point> points, const Stroke& stroke = {});
  void dot(Point at, double radius, std::string_view fill);
  void text(Point at, std::string_view words, const Font& font = {});
  /// Begins a group; browsers show its title when the pointer is on it.
  void begin_group(std::string_view title);
  void end_group();

  /// The whole file.
  std::string finish() const;

 private:
  std::string body_;
};

/// Text for XML: & < > and quotes become entities, control characters are removed, and what XML
/// cannot contain besides, such as U+FFFE and bytes that are not UTF-8, becomes U+FFFD.
std::string escape_xml(std::string_view text);

}  // namespace heed::plot
