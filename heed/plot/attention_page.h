// What a model attended to, as a page to explore in a browser: one file that needs no network.
// attention.html, which is part of the library, is the page; here it gets its data.
#pragma once

#include <string>

#include "heed/plot/attention_view.h"

namespace heed::plot {

/// The whole page; it opens with what is selected and holds all the rest.
std::string attention_html(const AttentionView& view, const AttentionSelection& selection = {});

}  // namespace heed::plot
