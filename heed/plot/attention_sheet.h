// What a model attended to, as one sheet: for each kind of attention a section in which rows are
// layers and columns heads; above them, for translators, the mean of all cross-attention, which is
// what alignments are read off.
#pragma once

#include <string>

#include "heed/plot/attention_view.h"

namespace heed::plot {

/// The picture of all that was selected; the less that is, the larger.
std::string attention_svg(const AttentionView& view, const AttentionSelection& selection = {});

/// A text cut to so many columns of a terminal, "…" at its end if something is missing.
std::string shortened(std::string_view text, std::size_t columns);

}  // namespace heed::plot
