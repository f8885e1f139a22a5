#include "heed/serve/page.h"

#include <string_view>

#include "heed/plot/attention_page.h"

namespace heed::serve {

extern const std::string_view kServePage;  // page.html

void answer_page(Exchange& exchange) {
  static const std::string page = plot::with_explorer(std::string(kServePage));
  HttpResponse response{.body = page, .content_type = "text/html; charset=utf-8"};
  response.headers.emplace_back(
      "Content-Security-Policy",
      "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src "
      "'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors "
      "'self'");
  response.headers.emplace_back("Cache-Control", "no-cache");
  exchange.answer(std::move(response));
}

}  // namespace heed::serve
