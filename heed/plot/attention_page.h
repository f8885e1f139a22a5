// Attention weights of a model as an HTML page to explore in a browser: one file that needs no
// network. The library contains the page (attention.html) and the explorer in it (explorer.js,
// explorer.css), which the page of the server has too; this file inserts the data.
#pragma once

#include <string>

#include "heed/plot/attention_view.h"

namespace heed::plot {

/// The data of the page as JSON: {"text", "result", "start", "parts": [{"kind", "rows", "columns",
/// "layers": [{"heads", "weights"}]}], "alignment"}. Weights are 16 bits each, low byte first, in
/// base64; 65535 means 1. A translator has an alignment, with the tokens of "cross".
std::string attention_data(const AttentionView& view, const AttentionSelection& selection = {});

/// A page with the explorer in the place of its marks {{explorer.css}} and {{explorer.js}}.
std::string with_explorer(std::string page);

/// The whole page. It contains all weights and opens with the selection.
std::string attention_html(const AttentionView& view, const AttentionSelection& selection = {});

}  // namespace heed::plot
