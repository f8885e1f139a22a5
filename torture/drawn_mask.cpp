#include "torture/drawn_mask.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "heed/attention/masks.h"
#include "heed/attention/masks/block_pattern.h"
#include "heed/attention/masks/mask_fn.h"
#include "heed/tensor/create.h"

namespace heed::torture {
namespace {

using test::CaseSizes;
using Maker = DrawnMask (*)(Draws&, const CaseSizes&);

struct DrawnCorner {
  Corner corner = Corner::top_left;
  std::function<std::int64_t(const Pair&)> position;  // of the query among the keys
  std::string text;
};

DrawnCorner draw_corner(Draws& draws) {
  switch (draws.below(3)) {
    case 0:
      return {Corner::top_left, [](const Pair& p) { return p.i; }, "top_left"};
    case 1:
      return {Corner::bottom_right, [](const Pair& p) { return p.i + p.keys - p.queries; },
              "bottom_right"};
    default: {
      const std::int64_t n = draws.between(-20, 20);
      return {Corner::offset(n), [n](const Pair& p) { return p.i + n; }, fmt::format("{}", n)};
    }
  }
}

std::vector<std::int64_t> draw_numbers(Draws& draws, std::int64_t count, std::int64_t most) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < count; ++i) numbers.push_back(draws.between(0, most));
  return numbers;
}

Tensor numbers_tensor(const std::vector<std::int64_t>& values, const Shape& shape) {
  return from_values(std::span<const std::int64_t>(values), shape);
}

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

DrawnMask draw_causal(Draws& draws, const CaseSizes&) {
  const DrawnCorner c = draw_corner(draws);
  return {causal(c.corner), [c](const Pair& p) { return p.j <= c.position(p); },
          "causal " + c.text};
}

DrawnMask draw_prefix(Draws& draws, const CaseSizes& s) {
  const DrawnCorner c = draw_corner(draws);
  const auto prefixes = draw_numbers(draws, s.B, s.Tk);
  return {prefix_causal(prefixes, c.corner),
          [=](const Pair& p) { return p.j <= c.position(p) || p.j < prefixes[at(p.b)]; },
          fmt::format("prefix_causal {} {}", fmt::join(prefixes, ","), c.text)};
}

DrawnMask draw_window(Draws& draws, const CaseSizes& s) {
  const DrawnCorner c = draw_corner(draws);
  const std::int64_t left = draws.chance(0.2) ? kUnlimited : draws.between(0, s.Tk);
  const std::int64_t right = draws.chance(0.2) ? kUnlimited : draws.between(0, s.Tk / 2);
  return {window(left, right, c.corner),
          [=](const Pair& p) {
            const std::int64_t distance = p.j - c.position(p);
            return (left == kUnlimited || distance >= -left) &&
                   (right == kUnlimited || distance <= right);
          },
          fmt::format("window {} {} {}", left, right, c.text)};
}

DrawnMask draw_dilated(Draws& draws, const CaseSizes&) {
  const DrawnCorner c = draw_corner(draws);
  const DilatedWindow w{draws.between(0, 9), draws.between(0, 9), draws.between(1, 7)};
  return {dilated_window(w, c.corner),
          [=](const Pair& p) {
            const std::int64_t distance = p.j - c.position(p);
            return distance % w.step == 0 && distance / w.step >= -w.left &&
                   distance / w.step <= w.right;
          },
          fmt::format("dilated_window {} {} {} {}", w.left, w.right, w.step, c.text)};
}

DrawnMask draw_around(Draws& draws, const CaseSizes& s) {
  // Multiples of 1/4: whether a key lies on the border is then exact.
  const double reach = 0.25 * static_cast<double>(draws.between(0, 40));
  std::vector<float> centres;
  for (std::int64_t n = 0; n < s.B * s.H * s.Tq; ++n) {
    centres.push_back(0.25f * static_cast<float>(draws.between(-20, 4 * s.Tk + 20)));
  }
  const Tensor tensor = from_values(std::span<const float>(centres), {s.B, s.H, s.Tq});
  return {window_around(tensor, reach),
          [=](const Pair& p) {
            const double centre = centres[at((p.b * s.H + p.h) * s.Tq + p.i)];
            return std::abs(static_cast<double>(p.j) - centre) <= reach;
          },
          fmt::format("window_around {}", reach)};
}

DrawnMask draw_globals(Draws& draws, const CaseSizes& s) {
  const DrawnCorner c = draw_corner(draws);
  std::set<std::int64_t> listed;
  for (std::int64_t n = draws.between(0, 4); n > 0; --n) listed.insert(draws.below(s.Tk));
  return {global_positions({listed.begin(), listed.end()}, c.corner),
          [=](const Pair& p) { return listed.count(p.j) > 0 || listed.count(c.position(p)) > 0; },
          fmt::format("global_positions {} {}", fmt::join(listed, ","), c.text)};
}

DrawnMask draw_lengths(Draws& draws, const CaseSizes& s) {
  const auto lengths = draw_numbers(draws, s.B, s.Tk);
  return {key_lengths(lengths), [=](const Pair& p) { return p.j < lengths[at(p.b)]; },
          fmt::format("key_lengths {}", fmt::join(lengths, ","))};
}

DrawnMask draw_range(Draws& draws, const CaseSizes& s) {
  const std::int64_t first = draws.between(-5, s.Tk), last = first + draws.between(0, s.Tk + 5);
  return {key_range(first, last), [=](const Pair& p) { return first <= p.j && p.j < last; },
          fmt::format("key_range {} {}", first, last)};
}

DrawnMask draw_segments(Draws& draws, const CaseSizes& s) {
  // Sometimes in order, which attention uses to skip documents.
  const bool in_order = draws.chance(0.5);
  const auto draw_ids = [&](std::int64_t length) {
    std::vector<std::int64_t> ids;
    for (std::int64_t n = 0; n < s.B * length; ++n) {
      const std::int64_t before = n % length == 0 || !in_order ? 0 : ids.back();
      ids.push_back(in_order ? before + (draws.chance(0.1) ? 1 : 0) : draws.below(4));
    }
    return ids;
  };
  const auto q_ids = draw_ids(s.Tq), k_ids = draw_ids(s.Tk);
  return {segments(numbers_tensor(q_ids, {s.B, s.Tq}), numbers_tensor(k_ids, {s.B, s.Tk})),
          [=](const Pair& p) { return q_ids[at(p.b * s.Tq + p.i)] == k_ids[at(p.b * s.Tk + p.j)]; },
          in_order ? "segments in order" : "segments"};
}

DrawnMask draw_intervals(Draws& draws, const CaseSizes& s) {
  const auto first = draw_numbers(draws, s.B * s.H * s.Tq, s.Tk);
  const auto last = draw_numbers(draws, s.B * s.H * s.Tq, s.Tk);
  const Shape shape{s.B, s.H, s.Tq};
  return {row_intervals(numbers_tensor(first, shape), numbers_tensor(last, shape)),
          [=](const Pair& p) {
            const std::size_t n = at((p.b * s.H + p.h) * s.Tq + p.i);
            return first[n] <= p.j && p.j < last[n];
          },
          "row_intervals"};
}

DrawnMask draw_blocks(Draws& draws, const CaseSizes& s) {
  const std::int64_t size = draws.between(1, 40);
  std::set<std::pair<std::int64_t, std::int64_t>> seen;
  std::vector<BlockPair> pairs;
  for (std::int64_t n = draws.between(0, 12); n > 0; --n) {
    const BlockPair pair{draws.below((s.Tq + size - 1) / size),
                         draws.below((s.Tk + size - 1) / size)};
    if (seen.insert({pair.query, pair.key}).second) pairs.push_back(pair);
  }
  return {block_list(size, pairs),
          [=](const Pair& p) {
            return seen.count({p.i / size, p.j / size}) > 0;
          },
          fmt::format("block_list of {}", size)};
}

DrawnMask draw_boolean(Draws& draws, const CaseSizes& s) {
  const double share = draws.real(0.02, 0.98);
  const std::int64_t B = draws.chance(0.5) ? s.B : 1, H = draws.chance(0.5) ? s.H : 1;
  Tensor visible = empty({B, H, s.Tq, s.Tk}, DType::boolean);
  auto bits = std::make_shared<std::vector<bool>>();
  for (std::int64_t n = 0; n < visible.numel(); ++n) {
    bits->push_back(draws.chance(share));
    visible.mutable_data<bool>()[n] = bits->back();
  }
  return {boolean_mask(visible),
          [=](const Pair& p) {
            const std::int64_t head = (B == 1 ? 0 : p.b) * H + (H == 1 ? 0 : p.h);
            return (*bits)[at((head * s.Tq + p.i) * s.Tk + p.j)];
          },
          fmt::format("boolean_mask {:.2f}", share)};
}

DrawnMask draw_function(Draws& draws, const CaseSizes&) {
  const int step = static_cast<int>(draws.between(2, 9)), from = static_cast<int>(draws.below(3));
  return {mask_fn([=](int b, int h, int i, int j) { return (i + 2 * j + b + h) % step >= from; }),
          [=](const Pair& p) { return (p.i + 2 * p.j + p.b + p.h) % step >= from; },
          fmt::format("mask_fn {} {}", step, from)};
}

const std::vector<Maker> kPacked = {draw_causal, draw_window, draw_dilated, draw_range,
                                    draw_function};
const std::vector<Maker> kAll = {draw_causal,   draw_prefix,  draw_window,    draw_dilated,
                                 draw_around,   draw_globals, draw_lengths,   draw_range,
                                 draw_segments, draw_blocks,  draw_intervals, draw_boolean,
                                 draw_function};

}  // namespace

DrawnMask draw_mask(Draws& draws, const CaseSizes& s, bool packed) {
  DrawnMask all = draws.pick(packed ? kPacked : kAll)(draws, s);
  for (std::int64_t n = draws.below(3); n > 0; --n) {
    const DrawnMask left = all, right = draws.pick(packed ? kPacked : kAll)(draws, s);
    if (draws.chance(0.5)) {
      all = {left.mask & right.mask, [=](const Pair& p) { return left.sees(p) && right.sees(p); },
             fmt::format("({} & {})", left.text, right.text)};
    } else {
      all = {left.mask | right.mask, [=](const Pair& p) { return left.sees(p) || right.sees(p); },
             fmt::format("({} | {})", left.text, right.text)};
    }
  }
  return all;
}

Tensor visible_of(const DrawnMask& mask, const CaseSizes& s) {
  Tensor visible = empty({s.B, s.H, s.Tq, s.Tk}, DType::boolean);
  for (std::int64_t n = 0; n < visible.numel(); ++n) {
    const std::int64_t j = n % s.Tk, i = n / s.Tk % s.Tq, head = n / (s.Tk * s.Tq);
    visible.mutable_data<bool>()[n] = mask.sees({head / s.H, head % s.H, i, j, s.Tq, s.Tk});
  }
  return visible;
}

}  // namespace heed::torture
