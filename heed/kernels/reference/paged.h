// The plain twin of attention to pages, in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "heed/kernels/attention/paged.h"

namespace heed::kernels::reference {

/// What one query of one head gets: [Dv], and its weights for all positions of the sequence.
struct PagedResult {
  std::vector<double> output, weights;
};

/// Query t of head h of a sequence; call.output and call.weights are not used.
inline PagedResult attention_paged(const PagedCall& call, std::int64_t row, std::int64_t t,
                                   std::int64_t h) {
  const PageShape& shape = call.shape;
  const PagedSequence& sequence = call.sequences[row];
  const std::int64_t g = h / (call.H / shape.G), n = sequence.length;
  const std::int64_t begin = call.begin(row, t), end = call.end(row, t);
  const float* const q = call.q + row * call.q_row + h * call.q_head + t * call.q_position;
  const auto index = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  std::vector<float> k(index(shape.D)), v(index(shape.Dv));
  const auto read = [&](std::int64_t i) {
    const std::int64_t page = i / kPagePositions;
    read_position(shape, sequence.pages[page], std::min(n - page * kPagePositions, kPagePositions),
                  i % kPagePositions, g, k.data(), v.data());
  };
  PagedResult result{std::vector<double>(index(shape.Dv)), std::vector<double>(index(n))};
  double top = -std::numeric_limits<double>::infinity(), total = 0.0;
  for (std::int64_t i = begin; i < end; ++i) {
    read(i);
    double score = 0.0;
    for (std::int64_t d = 0; d < shape.D; ++d) score += double{q[d]} * k[index(d)];
    score *= call.scale;
    if (call.bias.numbers != nullptr) {
      score += call.bias.numbers[h * call.bias.head_stride + call.bias.count - end + i];
    }
    if (call.soft_cap > 0.0f) score = call.soft_cap * std::tanh(score / call.soft_cap);
    result.weights[index(i)] = score;
    top = std::max(top, score);
  }
  for (std::int64_t i = begin; i < end; ++i) {
    total += result.weights[index(i)] = std::exp(result.weights[index(i)] - top);
  }
  for (std::int64_t i = begin; i < end; ++i) {
    read(i);
    result.weights[index(i)] /= total;
    for (std::int64_t d = 0; d < shape.Dv; ++d) {
      result.output[index(d)] += result.weights[index(i)] * v[index(d)];
    }
  }
  return result;
}

}  // namespace heed::kernels::reference
