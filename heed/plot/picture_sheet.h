// Attention to the places of a picture, drawn over the picture: one copy of it for each query, a
// word or a glimpse, in which places are the more coloured the more weight they have.
#pragma once

#include <string>

#include "heed/plot/attention_view.h"

namespace heed::plot {

/// Draws the selected heads of cross-attention; the view must have a picture.
std::string picture_svg(const AttentionView& view, const AttentionSelection& selection = {});

}  // namespace heed::plot
