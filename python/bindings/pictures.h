// Pictures and pages in Python, and the selection of the attention weights that they show.
#pragma once

#include <string>

#include "heed/plot/attention_view.h"
#include "python/bindings/array.h"

namespace heed::python {

/// heed.SVG.
struct Picture {
  std::string text;
};

/// heed.HTML.
struct Page {
  std::string text;
};

/// "encoder", "decoder" or "cross"; an unknown name is heed::Error.
plot::AttentionKind kind_of(const std::string& name);

/// The selected part, from Python's arguments; None: all.
plot::AttentionSelection selection_of(const std::optional<std::string>& kind,
                                      std::optional<std::int64_t> layer,
                                      std::optional<std::int64_t> head);

}  // namespace heed::python
