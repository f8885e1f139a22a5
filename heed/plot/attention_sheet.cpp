#include "heed/plot/attention_sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "heed/base/error.h"
#include "heed/generation/alignment.h"
#include "heed/generation/examine.h"
#include "heed/plot/heatmap.h"
#include "heed/plot/picture_sheet.h"
#include "heed/tensor/view.h"
#include "heed/text/unicode.h"

namespace heed::plot {
namespace {

constexpr double kSheetMargin = 20.0;
constexpr double kLeastWidth = 44.0;   // smallest width of a matrix, so that the names of heads fit
constexpr double kMatrixGap = 10.0;    // between matrices
constexpr double kSectionGap = 34.0;   // between sections
constexpr double kLayerName = 20.0;    // room at the left of a section
constexpr double kHeadName = 16.0;     // room above the tokens of the columns
constexpr double kTitle = 26.0;        // height of the title of a section
constexpr double kHeader = 76.0;       // height of the text and the model's output
constexpr double kTitleLetter = 0.56;  // average width of a letter, relative to its size
constexpr double kPower = 0.5;  // shade by the square root, so that small weights are visible
constexpr double kLegendWidth = 270.0, kLegendHeight = 48.0;
constexpr std::size_t kLongestLabel = 18;
constexpr std::string_view kGrey = "#666666";
constexpr std::string_view kMark = "#e07b00";

constexpr std::string_view title_of(AttentionKind kind) {
  constexpr std::array<std::string_view, 3> kTitles = {"Encoder self-attention",
                                                       "Decoder self-attention", "Cross-attention"};
  return kTitles[static_cast<std::size_t>(kind)];
}

HeatmapStyle style_of(double cell) {
  return {.cell = cell,
          .relative = false,
          .power = kPower,
          .label_size = std::min(0.95 * cell, 11.5),
          .title_size = 11.0};
}

// Chooses the size of squares so that a matrix of n tokens has about this width, within limits.
HeatmapStyle fitting(double width, std::size_t tokens, double least, double most) {
  const auto n = static_cast<double>(std::max<std::size_t>(1, tokens));
  return style_of(std::clamp(std::floor(width / n), least, most));
}

std::vector<std::string> labels_of(const std::vector<std::string>& tokens) {
  std::vector<std::string> labels;
  labels.reserve(tokens.size());
  for (const std::string& token : tokens) labels.push_back(shortened(token, kLongestLabel));
  return labels;
}

// ---- a section: the layers and heads of one kind ------------------------------------------------

struct Section {
  const AttentionPart* part;
  std::vector<std::int64_t> layers, heads;  // the selected ones
  std::vector<std::string> rows, columns;
  HeatmapStyle style;
  HeatmapRoom first;  // of the matrix with labels on both sides

  double step_x() const { return std::max(first.width - first.left, kLeastWidth) + kMatrixGap; }
  double step_y() const { return first.height - first.top + kMatrixGap; }
  Box room() const {
    return {.width = std::max(
                kLayerName + first.left + step_x() * static_cast<double>(heads.size()) - kMatrixGap,
                9.0 * static_cast<double>(title_of(part->kind).size())),
            .height = kTitle + kHeadName + first.top +
                      step_y() * static_cast<double>(layers.size()) - kMatrixGap};
  }
};

Heatmap labelled(const Section& section, const Tensor& weights) {
  return {.weights = weights, .rows = section.rows, .columns = section.columns};
}

Section section_of(const AttentionPart& part, const AttentionSelection& selection) {
  Section section{.part = &part,
                  .layers = {},
                  .heads = {},
                  .rows = labels_of(part.rows),
                  .columns = labels_of(part.columns),
                  .style = {},
                  .first = {}};
  std::int64_t heads = 0;
  for (std::int64_t l = 0; l < std::ssize(part.layers); ++l) {
    if (!selection.wants_layer(l)) continue;
    section.layers.push_back(l);
    heads = std::max(heads, part.layers[static_cast<std::size_t>(l)].size(0));
  }
  for (std::int64_t h = 0; h < heads; ++h) {
    if (selection.wants_head(h)) section.heads.push_back(h);
  }
  return section;
}

HeatmapStyle style_for(std::size_t tokens, const AttentionSelection& selection) {
  if (selection.layer && selection.head) return fitting(480, tokens, 12, 24);
  if (selection.layer || selection.head) return fitting(240, tokens, 9, 16);
  return fitting(130, tokens, 7, 12);
}

// All sections use squares of the same size, so that matrices can be compared.
std::vector<Section> sections_of(const std::vector<const AttentionPart*>& parts,
                                 const AttentionSelection& selection) {
  std::vector<Section> sections;
  std::size_t tokens = 0;
  for (const AttentionPart* part : parts) {
    sections.push_back(section_of(*part, selection));
    tokens = std::max({tokens, part->rows.size(), part->columns.size()});
  }
  double left = 0.0;
  for (Section& section : sections) {
    section.style = style_for(tokens, selection);
    section.first =
        heatmap_room(labelled(section, view::select(section.part->layers[0], 0, 0)), section.style);
    left = std::max(left, section.first.left);
  }
  for (Section& section : sections) {
    section.first.width += left - section.first.left;
    section.first.left = left;
  }
  return sections;
}

void draw_matrix(Svg& svg, const Section& section, std::size_t l, std::size_t h, Point grid) {
  const std::int64_t layer = section.layers[l], head = section.heads[h];
  const Tensor& weights = section.part->layers[static_cast<std::size_t>(layer)];
  if (head >= weights.size(0)) return;
  Heatmap map = labelled(section, view::select(weights, 0, head));
  if (h > 0) map.rows.clear();
  if (l > 0) map.columns.clear();
  const HeatmapRoom room = heatmap_room(map, section.style);
  const Point corner{grid.x + static_cast<double>(h) * section.step_x(),
                     grid.y + static_cast<double>(l) * section.step_y()};
  svg.begin_group(
      fmt::format("{}, layer {}, head {}", title_of(section.part->kind), layer + 1, head + 1));
  draw_heatmap(svg, map, {corner.x - room.left, corner.y - room.top}, section.style);
  svg.end_group();
}

void draw_section(Svg& svg, const Section& section, Point at) {
  svg.text({at.x, at.y + 14.0}, title_of(section.part->kind), {.size = 15.0, .bold = true});
  const Point grid{at.x + kLayerName + section.first.left,
                   at.y + kTitle + kHeadName + section.first.top};
  for (std::size_t h = 0; h < section.heads.size(); ++h) {
    svg.text({grid.x + static_cast<double>(h) * section.step_x(), at.y + kTitle + 9.0},
             fmt::format("head {}", section.heads[h] + 1), {.size = 11.0, .color = kGrey});
  }
  for (std::size_t l = 0; l < section.layers.size(); ++l) {
    const double middle =
        grid.y + static_cast<double>(l) * section.step_y() + 0.5 * (section.step_y() - kMatrixGap);
    svg.text({at.x + 11.0, middle}, fmt::format("layer {}", section.layers[l] + 1),
             {.size = 11.0, .anchor = "middle", .color = kGrey, .turn = -90.0});
    for (std::size_t h = 0; h < section.heads.size(); ++h) draw_matrix(svg, section, l, h, grid);
  }
}

// ---- the panel: the weights of the alignment ----------------------------------------------------

struct Panel {
  Heatmap map;
  AlignmentEdges edges;
  HeatmapStyle style;

  Box room() const {
    const HeatmapRoom inner = heatmap_room(map, style);
    return {.width = std::max(inner.width, 430.0), .height = kTitle + 20.0 + inner.height};
  }
};

std::optional<Panel> panel_of(const AttentionView& view,
                              const std::vector<const AttentionPart*>& parts,
                              const AttentionSelection& selection) {
  if (!view.alignment.defined() || selection.layer || selection.head) return {};
  const auto cross = std::ranges::find(parts, AttentionKind::cross, &AttentionPart::kind);
  if (cross == parts.end()) return {};
  const AttentionPart& part = **cross;
  return Panel{.map = Heatmap{.weights = view.alignment,
                              .rows = labels_of(part.rows),
                              .columns = labels_of(part.columns)},
               .edges = view.edges,
               .style = fitting(480, std::max(part.rows.size(), part.columns.size()), 10, 22)};
}

void draw_panel(Svg& svg, const Panel& panel, Point at) {
  svg.text({at.x, at.y + 14.0}, "Alignment, from the cross-attention of all layers and heads",
           {.size = 15.0, .bold = true});
  svg.text({at.x, at.y + 32.0},
           "framed: the links of the alignment, which leave out the special tokens",
           {.size = 11.0, .color = kGrey});
  const Point corner{at.x, at.y + kTitle + 20.0};
  draw_heatmap(svg, panel.map, corner, panel.style);
  const HeatmapRoom room = heatmap_room(panel.map, panel.style);
  const double cell = panel.style.cell;
  const AlignmentEdges& edges = panel.edges;
  for (const AlignmentLink& link : hard_alignment(without_ends(panel.map.weights, edges))) {
    const auto column = static_cast<double>(link.source + edges.source_before);
    const auto row = static_cast<double>(link.target + edges.target_before);
    svg.frame({corner.x + room.left + cell * column + 0.75, corner.y + room.top + cell * row + 0.75,
               cell - 1.5, cell - 1.5},
              {.color = kMark, .width = 1.5});
  }
}

// ---- the sheet ----------------------------------------------------------------------------------

void draw_legend(Svg& svg, Point at) {
  constexpr int kSteps = 46;
  constexpr double kStep = kLegendWidth / kSteps;
  for (int i = 0; i < kSteps; ++i) {
    svg.box({at.x + i * kStep, at.y, kStep, 10.0}, weight_color((i + 0.5) / kSteps));
  }
  svg.frame({at.x, at.y, kLegendWidth, 10.0}, {.color = "#999999"});
  for (const double weight : {0.0, 0.01, 0.1, 0.25, 0.5, 1.0}) {
    svg.text({at.x + std::pow(weight, kPower) * kLegendWidth, at.y + 23.0},
             fmt::format("{:g}", weight), {.size = 10.0, .anchor = "middle", .color = kGrey});
  }
  svg.text({at.x, at.y + 38.0}, "weight; row tokens attend to column tokens",
           {.size = 10.0, .color = kGrey});
}

// Puts sections side by side or below each other, whichever gives the better aspect ratio.
struct Arrangement {
  bool across = true;
  Box room = {};
};

Arrangement arrange(const std::vector<Section>& sections) {
  Box across, down;
  for (const Section& section : sections) {
    const Box room = section.room();
    across.width += room.width + kSectionGap;
    across.height = std::max(across.height, room.height);
    down.width = std::max(down.width, room.width + kSectionGap);
    down.height += room.height + kSectionGap;
  }
  across.width -= kSectionGap, down.width -= kSectionGap, down.height -= kSectionGap;
  const auto badness = [](const Box& box) {
    return std::abs(std::log(box.width / box.height / 1.6));
  };
  return badness(across) <= badness(down) ? Arrangement{true, across} : Arrangement{false, down};
}

}  // namespace

std::string shortened(std::string_view text, std::size_t columns) {
  if (unicode::width(text) <= columns) return std::string(text);
  std::string kept;
  std::size_t used = 1;  // the ellipsis
  for (const std::string_view character : unicode::split(text)) {
    used += unicode::width(character);
    if (used > columns) break;
    kept += character;
  }
  return kept + "…";
}

std::string attention_svg(const AttentionView& view, const AttentionSelection& selection) {
  if (view.picture) return picture_svg(view, selection);
  const std::vector<const AttentionPart*> parts = choose_parts(view, selection);
  const std::vector<Section> sections = sections_of(parts, selection);
  const std::optional<Panel> panel = panel_of(view, parts, selection);
  const Arrangement arrangement = arrange(sections);

  // The legend is right of the panel, or on a separate line.
  Box above{.width = kLegendWidth, .height = kLegendHeight};
  if (panel)
    above = {.width = panel->room().width + kSectionGap + kLegendWidth + 20.0,
             .height = panel->room().height};
  const double inner = std::max({arrangement.room.width, above.width, 420.0});
  Svg svg(inner + 2 * kSheetMargin,
          kHeader + above.height + kSectionGap + arrangement.room.height + kSheetMargin,
          view.result.empty() ? view.text : view.text + " → " + view.result);

  const auto fits = [&](double size) {
    return static_cast<std::size_t>(inner / (kTitleLetter * size));
  };
  svg.text({kSheetMargin, kSheetMargin + 14.0}, shortened(view.text, fits(17.0)),
           {.size = 17.0, .bold = true});
  if (!view.result.empty()) {
    svg.text({kSheetMargin, kSheetMargin + 34.0}, shortened("→ " + view.result, fits(15.0)),
             {.size = 15.0});
  }
  Point at{kSheetMargin, kHeader};
  if (panel) draw_panel(svg, *panel, at);
  draw_legend(svg, {panel ? at.x + panel->room().width + kSectionGap : at.x + 2.0, at.y + 6.0});
  at.y += above.height + kSectionGap;
  for (const Section& section : sections) {
    draw_section(svg, section, at);
    const Box room = section.room();
    (arrangement.across ? at.x : at.y) +=
        (arrangement.across ? room.width : room.height) + kSectionGap;
  }
  return svg.finish();
}

}  // namespace heed::plot
