// Attention weights of a model as one picture: a section for each kind of attention, with layers as
// rows and heads as columns. For translators, the alignment is above them. Attention to places of a
// picture is drawn over the picture (picture_sheet.h).
#pragma once

#include <string>

#include "heed/plot/attention_view.h"

namespace heed::plot {

/// Draws the selected weights; the fewer are selected, the larger they are drawn.
std::string attention_svg(const AttentionView& view, const AttentionSelection& selection = {});

/// A text shortened to this many terminal columns, with "…" at its end if it was cut.
std::string shortened(std::string_view text, std::size_t columns);

}  // namespace heed::plot
