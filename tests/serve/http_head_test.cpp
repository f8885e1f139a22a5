#include "heed/serve/http_head.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heed::serve {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(HttpHead, HasStatusLengthAndHeaders) {
  HttpResponse response{.status = 429};
  response.headers.emplace_back("Retry-After", "7");
  const std::string text = head_text(response, {.length = 12, .keeps_alive = true});
  EXPECT_TRUE(text.starts_with("HTTP/1.1 429 Too Many Requests\r\n")) << text;
  EXPECT_TRUE(text.ends_with("Retry-After: 7\r\n\r\n")) << text;
  for (const char* const line : {"\r\nContent-Length: 12\r\n", "\r\nConnection: keep-alive\r\n",
                                 "\r\nContent-Type: application/json\r\n", " GMT\r\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(HttpHead, OfPartsHasNoLength) {
  const std::string text = head_text({}, {.is_chunked = true});
  EXPECT_THAT(text, HasSubstr("Transfer-Encoding: chunked\r\n"));
  EXPECT_THAT(text, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(text, Not(HasSubstr("Content-Length")));
  EXPECT_THAT(head_text({.status = 204}, {.length = 0}), Not(HasSubstr("\r\nContent-")));
}

}  // namespace
}  // namespace heed::serve
