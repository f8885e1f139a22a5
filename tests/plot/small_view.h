// A view of a translator with two layers of three heads, whose weights differ everywhere.
#pragma once

#include <string>
#include <vector>

#include "heed/plot/attention_view.h"
#include "heed/tensor/create.h"

namespace heed::plot::test {

/// Three heads of weights [rows, columns]; `first` moves all of them.
inline Tensor some_heads(std::int64_t rows, std::int64_t columns, float first) {
  Tensor weights = empty({3, rows, columns});
  float* const data = weights.mutable_data<float>();
  for (std::int64_t i = 0; i < weights.numel(); ++i) {
    data[i] = (first + static_cast<float>(i)) / 64.0f;
  }
  return weights;
}

inline AttentionPart some_part(AttentionKind kind, const std::vector<std::string>& rows,
                               const std::vector<std::string>& columns) {
  AttentionPart part{.kind = kind, .rows = rows, .columns = columns, .layers = {}};
  for (const float first : {0.0f, 20.0f}) {
    part.layers.push_back(some_heads(std::ssize(rows), std::ssize(columns), first));
  }
  return part;
}

inline AttentionView small_view() {
  AttentionView view{.text = "a <cat> & </script>", .result = "猫", .parts = {}};
  const std::vector<std::string> read = {"▁cat", "</s>"}, written = {"猫", "@@!", "</s>"},
                                 at_hand = {"<s>", "猫", "@@!"};
  view.parts.push_back(some_part(AttentionKind::encoder, read, read));
  view.parts.push_back(some_part(AttentionKind::decoder, written, at_hand));
  view.parts.push_back(some_part(AttentionKind::cross, written, read));
  view.alignment = from_values<float>({0.9f, 0.1f, 0.7f, 0.3f, 0.2f, 0.8f}, {3, 2});
  return view;
}

}  // namespace heed::plot::test
