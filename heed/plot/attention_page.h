// Attention weights of a model as an HTML page to explore in a browser: one file that needs no
// network. The library contains the page (attention.html); this file inserts the data.
#pragma once

#include <string>

#include "heed/plot/attention_view.h"

namespace heed::plot {

/// The whole page. It contains all weights and opens with the selection.
std::string attention_html(const AttentionView& view, const AttentionSelection& selection = {});

}  // namespace heed::plot
