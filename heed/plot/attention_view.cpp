#include "heed/plot/attention_view.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/tensor/copy.h"

namespace heed::plot {
namespace {

void check_layer(const AttentionPart& part, std::size_t l) {
  const Tensor& weights = part.layers[l];
  const bool fits = weights.defined() && weights.rank() == 3 && weights.dtype() == DType::f32 &&
                    weights.size(0) > 0 && weights.size(1) == std::ssize(part.rows) &&
                    weights.size(2) == std::ssize(part.columns);
  HEED_CHECK(fits,
             "[see] weights of {} layer {} are {} for {} query tokens and {} key tokens: "
             "this kind of attention cannot be drawn token by token",
             name_of(part.kind), l + 1, weights.defined() ? to_string(weights.shape()) : "missing",
             part.rows.size(), part.columns.size());
  const Tensor whole = contiguous_copy(weights);
  const std::int64_t per_head = weights.size(1) * weights.size(2);
  const auto values = whole.values<float>();
  const auto bad = std::ranges::find_if(values, [](float w) { return !std::isfinite(w); });
  HEED_CHECK(bad == values.end(),
             "[see] {} layer {} head {} has weights that are not numbers: the model is damaged; "
             "try an earlier checkpoint",
             name_of(part.kind), l + 1,
             1 + (bad - values.begin()) / std::max<std::int64_t>(1, per_head));
}

// "encoder, decoder"
std::string kinds_of(const AttentionView& view) {
  std::string kinds;
  for (const AttentionPart& part : view.parts) {
    if (!kinds.empty()) kinds += ", ";
    kinds += name_of(part.kind);
  }
  return kinds;
}

}  // namespace

std::string_view name_of(AttentionKind kind) {
  return enum_names(kind)[static_cast<std::size_t>(kind)].name;
}

void check_view(const AttentionView& view) {
  for (const AttentionPart& part : view.parts) {
    for (std::size_t l = 0; l < part.layers.size(); ++l) check_layer(part, l);
  }
}

std::vector<const AttentionPart*> choose_parts(const AttentionView& view,
                                               const AttentionSelection& selection) {
  check_view(view);
  std::vector<const AttentionPart*> chosen;
  std::int64_t layers = 0, heads = 0;
  for (const AttentionPart& part : view.parts) {
    if ((selection.kind && *selection.kind != part.kind) || part.layers.empty()) continue;
    chosen.push_back(&part);
    layers = std::max(layers, std::ssize(part.layers));
    for (const Tensor& layer : part.layers) heads = std::max(heads, layer.size(0));
  }
  HEED_CHECK(!chosen.empty(), "[see] --kind {}: this model has {}",
             selection.kind ? name_of(*selection.kind) : "all", kinds_of(view));
  HEED_CHECK(!selection.layer || (*selection.layer >= 1 && *selection.layer <= layers),
             "[see] --layer {}: layers go from 1 to {}", selection.layer.value_or(0), layers);
  HEED_CHECK(!selection.head || (*selection.head >= 1 && *selection.head <= heads),
             "[see] --head {}: heads go from 1 to {}", selection.head.value_or(0), heads);
  // Encoder and decoder may have different numbers of layers; parts without this layer are left
  // out.
  std::erase_if(chosen, [&](const AttentionPart* part) {
    return selection.layer && *selection.layer > std::ssize(part->layers);
  });
  return chosen;
}

}  // namespace heed::plot
