#include "cli/digits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "heed/tensor/create.h"

namespace heed::cli {
namespace {

struct Point {
  float x, y;
};

// Each digit as lines through points; x to the right, y downwards.
const std::array<std::vector<Point>, 10> kStrokes = {{
    {{.5f, 0},
     {.15f, .2f},
     {.1f, .5f},
     {.15f, .8f},
     {.5f, 1},
     {.85f, .8f},
     {.9f, .5f},
     {.85f, .2f},
     {.5f, 0}},
    {{.3f, .2f}, {.55f, 0}, {.55f, 1}},
    {{.12f, .22f}, {.3f, .02f}, {.68f, .02f}, {.88f, .25f}, {.75f, .5f}, {.1f, 1}, {.92f, 1}},
    {{.12f, .08f},
     {.6f, 0},
     {.88f, .22f},
     {.72f, .45f},
     {.4f, .48f},
     {.75f, .52f},
     {.9f, .76f},
     {.6f, 1},
     {.1f, .92f}},
    {{.7f, 1}, {.7f, 0}, {.08f, .66f}, {.95f, .66f}},
    {{.85f, 0}, {.2f, 0}, {.15f, .45f}, {.6f, .4f}, {.9f, .65f}, {.7f, .97f}, {.1f, .95f}},
    {{.78f, .02f},
     {.35f, .2f},
     {.12f, .62f},
     {.25f, .95f},
     {.65f, 1},
     {.88f, .74f},
     {.7f, .52f},
     {.3f, .54f},
     {.13f, .7f}},
    {{.08f, 0}, {.92f, 0}, {.4f, 1}},
    {{.5f, .48f},
     {.16f, .25f},
     {.5f, 0},
     {.84f, .25f},
     {.5f, .48f},
     {.1f, .75f},
     {.5f, 1},
     {.9f, .75f},
     {.5f, .48f}},
    {{.87f, .3f},
     {.7f, .48f},
     {.3f, .46f},
     {.12f, .24f},
     {.35f, 0},
     {.75f, .05f},
     {.88f, .4f},
     {.6f, 1}},
}};

// How one picture differs from the plain digit. Words 0… of the picture's own stream decide.
struct Hand {
  float turn, slant, width, height, left, top, pen;

  Point place(Point p) const {
    const float x = (p.x - 0.5f + slant * (0.5f - p.y)) * width;
    const float y = (p.y - 0.5f) * height;
    return {0.5f + left + x * std::cos(turn) - y * std::sin(turn),
            0.5f + top + x * std::sin(turn) + y * std::cos(turn)};
  }
};

Hand hand_of(RandomStream r) {
  const auto between = [&](std::uint64_t word, float low, float high) {
    return low + (high - low) * r.uniform(word);
  };
  return {between(0, -0.3f, 0.3f),   between(1, -0.35f, 0.35f), between(2, 0.32f, 0.62f),
          between(3, 0.5f, 0.78f),   between(4, -0.1f, 0.1f),   between(5, -0.08f, 0.08f),
          between(6, 0.035f, 0.075f)};
}

float distance(Point p, Point a, Point b) {
  const float dx = b.x - a.x, dy = b.y - a.y;
  const float t =
      std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / (dx * dx + dy * dy + 1e-9f), 0.0f, 1.0f);
  return std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

void draw(std::int64_t digit, RandomStream r, std::span<float> pixels) {
  constexpr float kNoise = 0.12f;
  constexpr float kWobble = 0.05f;
  const Hand hand = hand_of(r);
  std::vector<Point> line = kStrokes[static_cast<std::size_t>(digit)];
  for (std::size_t i = 0; i < line.size(); ++i) {
    line[i] = hand.place(
        {line[i].x + kWobble * r.normal(16 + 2 * i), line[i].y + kWobble * r.normal(17 + 2 * i)});
  }
  for (std::int64_t k = 0; k < kDigitSide * kDigitSide; ++k) {
    const float side = static_cast<float>(kDigitSide);
    const Point p{(static_cast<float>(k % kDigitSide) + 0.5f) / side,
                  (static_cast<float>(k / kDigitSide) + 0.5f) / side};
    float nearest = 1.0f;
    for (std::size_t i = 1; i < line.size(); ++i) {
      nearest = std::min(nearest, distance(p, line[i - 1], line[i]));
    }
    const float ink = std::clamp(1.0f - (nearest - hand.pen) * side * 0.8f, 0.0f, 1.0f);
    const float noise = kNoise * r.normal(64 + static_cast<std::uint64_t>(k));
    pixels[static_cast<std::size_t>(k)] = std::clamp(ink + noise, 0.0f, 1.0f);
  }
}

}  // namespace

DigitBatch draw_digits(RandomStream stream, std::int64_t first, std::int64_t count) {
  DigitBatch batch{empty({count, 1, kDigitSide, kDigitSide}), empty({count}, DType::i64)};
  const std::int64_t size = kDigitSide * kDigitSide;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto number = static_cast<std::uint64_t>(first + i);
    const std::int64_t digit = stream.below(number, 10);
    batch.labels.mutable_data<std::int64_t>()[i] = digit;
    // A picture's own numbers: the seed of the stream and a stream number no one else uses.
    const RandomStream own{stream.seed ^ 0x64696769ull, (stream.stream << 40) + number};
    draw(digit, own,
         {batch.pictures.mutable_data<float>() + i * size, static_cast<std::size_t>(size)});
  }
  return batch;
}

std::string show_digits(const Tensor& pictures, std::int64_t first, std::int64_t count,
                        int indent) {
  std::string text;
  const float* const pixels = pictures.data<float>();
  for (std::int64_t y = 0; y < kDigitSide; y += 2) {
    for (std::int64_t i = first; i < first + count; ++i) {
      text.append(static_cast<std::size_t>(indent), ' ');
      for (std::int64_t x = 0; x < kDigitSide; ++x) {
        const float* const p = pixels + (i * kDigitSide + y) * kDigitSide + x;
        const bool upper = p[0] > 0.5f, lower = p[kDigitSide] > 0.5f;
        text += upper && lower ? "█" : upper ? "▀" : lower ? "▄" : " ";
      }
    }
    text += '\n';
  }
  return text;
}

}  // namespace heed::cli
