#include "heed/serve/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/serve/recorder.h"

namespace heed::serve {
namespace {

TEST(Page, NeedsNothingFromElsewhere) {
  const auto recorder = std::make_shared<Recorder>();
  Exchange exchange({}, recorder);
  answer_page(exchange);
  const HttpResponse& page = recorder->answers.at(0);
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  EXPECT_EQ(page.headers.at(0).first, "Content-Security-Policy");
  for (const char* const outside : {"src=\"http", "href=\"http", "@import", "url(http", "{{"}) {
    EXPECT_EQ(page.body.find(outside), std::string::npos) << outside;
  }
  EXPECT_NE(page.body.find("</html>"), std::string::npos);
}

}  // namespace
}  // namespace heed::serve
