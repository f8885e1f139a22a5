#include "heed/plot/picture_sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>
#include <vector>

#include "heed/base/error.h"
#include "heed/plot/attention_sheet.h"
#include "heed/plot/svg.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/view.h"

namespace heed::plot {
namespace {

constexpr double kOverlayMargin = 20.0;
constexpr double kOverlayHeader = 66.0;  // of the input and the model's output
constexpr double kOverlaySide = 132.0;   // of the longer side of a picture
constexpr double kOverlayGap = 14.0;
constexpr double kOverlayLabel = 20.0;        // height of the label below a picture
constexpr std::int64_t kPicturesPerLine = 8;  // pictures side by side
constexpr double kMostColour = 0.72;          // share of the colour at the largest weight
constexpr std::size_t kLongestWord = 16;
constexpr std::array<double, 3> kWeightColour = {0xe0, 0x7b, 0x00};

// One row of weights over the picture.
struct Shown {
  std::vector<float> weights;  // of the places
  std::string label;
};

// The bytes of a pixel as red, green and blue.
std::array<double, 3> pixel_of(const Picture& picture, std::int64_t place) {
  std::array<double, 3> colour{};
  for (std::int64_t c = 0; c < 3; ++c) {
    const std::int64_t channel = std::min(c, picture.shape.channels - 1);
    colour[static_cast<std::size_t>(c)] =
        picture.bytes[static_cast<std::size_t>(channel * picture.shape.places() + place)];
  }
  return colour;
}

std::string mixed(const std::array<double, 3>& pixel, double share) {
  std::array<int, 3> levels{};
  for (std::size_t c = 0; c < 3; ++c) {
    const double level = (1.0 - share) * pixel[c] + share * kWeightColour[c];
    levels[c] = std::clamp(static_cast<int>(std::lround(level / 8.0)) * 8, 0, 255);
  }
  return fmt::format("#{:02x}{:02x}{:02x}", levels[0], levels[1], levels[2]);
}

// Draws the pixels; neighbours of one colour in a row are one box.
void draw_shown(Svg& svg, const ViewedPicture& viewed, const Shown& shown, const Box& at) {
  const auto [channels, height, width] = viewed.picture.shape;
  const double cell = at.width / static_cast<double>(width);
  const double most = std::max(1e-9f, *std::ranges::max_element(shown.weights));
  std::map<std::string, std::vector<Box>> by_colour;
  for (std::int64_t y = 0; y < height; ++y) {
    std::string last;
    for (std::int64_t x = 0; x < width; ++x) {
      const std::int64_t place =
          y * viewed.rows / height * viewed.columns + x * viewed.columns / width;
      const double share = kMostColour * shown.weights[static_cast<std::size_t>(place)] / most;
      const std::string colour = mixed(pixel_of(viewed.picture, y * width + x), share);
      std::vector<Box>& boxes = by_colour[colour];
      if (colour == last) {
        boxes.back().width += cell;
      } else {
        boxes.push_back({at.x + cell * static_cast<double>(x), at.y + cell * static_cast<double>(y),
                         cell, cell});
      }
      last = colour;
    }
  }
  svg.begin_group(shown.label);
  for (const auto& [colour, boxes] : by_colour) svg.boxes(boxes, colour);
  svg.frame(at, {.color = "#999999"});
  svg.text({at.x + 0.5 * at.width, at.y + at.height + 14.0}, shortened(shown.label, kLongestWord),
           {.size = 12.0, .anchor = "middle"});
  svg.end_group();
}

std::vector<Shown> shown_of(const AttentionPart& part, const AttentionSelection& selection) {
  std::vector<Shown> all;
  const bool names_heads = part.layers.size() > 1 || part.layers[0].size(0) > 1;
  for (std::int64_t l = 0; l < std::ssize(part.layers); ++l) {
    const Tensor& layer = part.layers[static_cast<std::size_t>(l)];  // [H, T, places]
    for (std::int64_t h = 0; h < layer.size(0); ++h) {
      if (!selection.wants_layer(l) || !selection.wants_head(h)) continue;
      for (std::int64_t t = 0; t < layer.size(1); ++t) {
        const std::string& row = part.rows[static_cast<std::size_t>(t)];
        all.push_back(
            {contiguous_copy(view::select(view::select(layer, 0, h), 0, t)).to_vector<float>(),
             names_heads ? fmt::format("{} ({}.{})", row, l + 1, h + 1) : row});
      }
    }
  }
  return all;
}

}  // namespace

std::string picture_svg(const AttentionView& view, const AttentionSelection& selection) {
  HEED_CHECK(view.picture.has_value(), "[see] this attention has no picture to draw on");
  const ViewedPicture& viewed = *view.picture;
  AttentionSelection chosen = selection;
  if (!chosen.kind) chosen.kind = AttentionKind::cross;
  const AttentionPart& part = *choose_parts(view, chosen).front();
  HEED_CHECK(
      part.kind == AttentionKind::cross && std::ssize(part.columns) == viewed.rows * viewed.columns,
      "[see] attention of kind {} to {} places does not fit a grid of {} x {}", name_of(part.kind),
      part.columns.size(), viewed.rows, viewed.columns);
  const std::vector<Shown> all = shown_of(part, chosen);
  const PictureShape& shape = viewed.picture.shape;
  const double scale = kOverlaySide / static_cast<double>(std::max(shape.height, shape.width));
  const double width = scale * static_cast<double>(shape.width);
  const double height = scale * static_cast<double>(shape.height);
  const auto count = std::max<std::int64_t>(1, std::ssize(all));
  const std::int64_t across = std::min(kPicturesPerLine, count),
                     down = (count + across - 1) / across;
  const double inner =
      std::max(static_cast<double>(across) * (width + kOverlayGap) - kOverlayGap, 420.0);
  Svg svg(inner + 2 * kOverlayMargin,
          kOverlayHeader + static_cast<double>(down) * (height + kOverlayLabel + kOverlayGap) +
              kOverlayMargin,
          view.text + " → " + view.result);
  svg.text({kOverlayMargin, kOverlayMargin + 12.0}, shortened(view.text, 60),
           {.size = 15.0, .bold = true});
  svg.text({kOverlayMargin, kOverlayMargin + 32.0}, shortened("→ " + view.result, 60),
           {.size = 14.0});
  for (std::int64_t i = 0; i < std::ssize(all); ++i) {
    const Box at{
        kOverlayMargin + static_cast<double>(i % across) * (width + kOverlayGap),
        kOverlayHeader + static_cast<double>(i / across) * (height + kOverlayLabel + kOverlayGap),
        width, height};
    draw_shown(svg, viewed, all[static_cast<std::size_t>(i)], at);
  }
  return svg.finish();
}

}  // namespace heed::plot
