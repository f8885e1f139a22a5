#include "heed/plot/alignment_text.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/tensor/copy.h"
#include "heed/text/unicode.h"

namespace heed::plot {
namespace {

constexpr std::size_t kBetween = 2;  // columns between neighbouring words
constexpr std::size_t kLeast = 2;    // smallest width of a cell: one column is hard to see

// Weights below a tenth are not shown, since nearly every cell has a little; nor is NaN.
constexpr std::string_view shade(float weight) {
  if (!(weight >= 0.1f)) return " ";
  if (weight < 0.3f) return "░";
  if (weight < 0.5f) return "▒";
  if (weight < 0.75f) return "▓";
  return "█";
}

std::string repeat(std::string_view what, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += what;
  return text;
}

std::string padded(const std::string& word, std::size_t columns) {
  return word + std::string(columns - std::min(columns, unicode::width(word)), ' ');
}

void end_line(std::string& text) {
  text.erase(text.find_last_not_of(' ') + 1);
  text += '\n';
}

// The words without control characters and bidirectional overrides, which would move the cursor.
std::vector<std::string> shown(std::span<const std::string> words) {
  std::vector<std::string> all;
  for (const std::string& word : words) {
    std::u32string points = unicode::decode(word);
    std::ranges::replace_if(
        points,
        [](char32_t c) {
          return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x2028 && c <= 0x202e) ||
                 (c >= 0x2066 && c <= 0x2069);
        },
        U' ');
    all.push_back(unicode::encode(points));
  }
  return all;
}

// The words of both sides as shown, and their widths in columns.
struct Drawing {
  std::vector<std::string> source, target;
  std::span<const float> weights;  // [T, Tk]
  std::size_t left = 0;            // width of the source words

  std::size_t width(std::size_t t) const { return std::max(kLeast, unicode::width(target[t])); }

  // Draws the targets [begin, end).
  void draw(std::string& text, std::size_t begin, std::size_t end) const {
    text += std::string(left, ' ');
    for (std::size_t t = begin; t < end; ++t) {
      text += std::string(kBetween, ' ') + padded(target[t], width(t));
    }
    end_line(text);
    for (std::size_t s = 0; s < source.size(); ++s) {
      text += padded(source[s], left);
      for (std::size_t t = begin; t < end; ++t) {
        text += std::string(kBetween, ' ');
        text += repeat(shade(weights[t * source.size() + s]), width(t));
      }
      end_line(text);
    }
  }
};

}  // namespace

std::string alignment_text(const AlignmentText& alignment) {
  const Tensor& w = alignment.weights;
  HEED_CHECK(w.defined() && w.rank() == 2 && w.dtype() == DType::f32 &&
                 w.size(0) == std::ssize(alignment.target) &&
                 w.size(1) == std::ssize(alignment.source),
             "[alignment] weights {} for {} target and {} source words: they must be f32 [target, "
             "source]",
             w.defined() ? to_string(w.shape()) : "missing", alignment.target.size(),
             alignment.source.size());
  const Tensor whole = contiguous_copy(w);
  Drawing drawing{.source = shown(alignment.source),
                  .target = shown(alignment.target),
                  .weights = whole.values<float>()};
  for (const std::string& word : drawing.source) {
    drawing.left = std::max(drawing.left, unicode::width(word));
  }
  std::string text;
  for (std::size_t begin = 0, end = 0; begin < drawing.target.size(); begin = end) {
    std::size_t used = drawing.left;
    do {
      used += kBetween + drawing.width(end++);
    } while (end < drawing.target.size() &&
             used + kBetween + drawing.width(end) <= alignment.max_width);
    if (begin > 0) text += '\n';
    drawing.draw(text, begin, end);
  }
  return text;
}

}  // namespace heed::plot
