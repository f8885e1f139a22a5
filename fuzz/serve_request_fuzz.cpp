// Fuzzes the bodies of requests to the server: any bytes are either read, or refused with a status
// from 400 on and a message that is JSON. Texts and HTML that are read are split and put together.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "heed/io/json.h"
#include "heed/serve/api_error.h"
#include "heed/serve/html_text.h"
#include "heed/serve/requests.h"
#include "heed/serve/sentences.h"

namespace {

using namespace heed;
using namespace heed::serve;

void require(bool condition) {
  if (!condition) std::abort();
}

void check_text(std::string_view text) {
  std::string whole;
  for (const TextPiece& piece : split_text(text)) whole += piece.text;
  require(whole == text);
  for (const HtmlPart& part : split_html(text)) {
    if (part.is_text) split_text(part.text);
  }
}

template <io::Section Body>
void check_body(const HttpRequest& request) {
  try {
    const Body body = read_body<Body>(request);
    if constexpr (requires { body.q; }) {
      for (const std::string& text : body.q.items) check_text(text);
    }
  } catch (const ApiError& error) {
    require(error.status >= 400 && error.status < 500);
    io::parse_json(error_response(Api::openai, error).body, "error");
  }
}

}  // namespace

// The first byte chooses between JSON and a form.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  HttpRequest request{.body = std::string(reinterpret_cast<const char*>(data), size)};
  if (size > 0 && data[0] != '{') request.content_type = "application/x-www-form-urlencoded";
  check_body<TranslateBody>(request);
  check_body<CompletionBody>(request);
  check_body<ChatBody>(request);
  check_body<EmbeddingBody>(request);
  check_body<AttentionBody>(request);
  return 0;
}
