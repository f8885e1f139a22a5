// The first lines of an HTTP answer.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "heed/serve/exchange.h"

namespace heed::serve {

struct HeadOptions {
  std::optional<std::size_t> length = {};  ///< Bytes of the body; none: it comes in parts.
  bool is_chunked = false;                 ///< Whether the parts are chunks; else the end closes.
  bool keeps_alive = false;                ///< Whether another request may follow.
};

/// The status line and the headers, up to the empty line.
std::string head_text(const HttpResponse& response, const HeadOptions& options);

}  // namespace heed::serve
