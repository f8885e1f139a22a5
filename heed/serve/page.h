// The page at /, in one file that fetches nothing from elsewhere.
#pragma once

#include "heed/serve/exchange.h"

namespace heed::serve {

/// Answers with the page.
void answer_page(Exchange& exchange);

}  // namespace heed::serve
