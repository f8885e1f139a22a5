#include "heed/serve/api_error.h"

#include <gtest/gtest.h>

#include <new>

#include "heed/base/error.h"
#include "heed/generation/request.h"
#include "tests/serve/recorder.h"

namespace heed::serve {
namespace {

TEST(ApiError, HasTheFormOfItsApi) {
  const ApiError error(404, "no \"model\"", "model_not_found");
  EXPECT_EQ(error_response(Api::translate, error).body, R"({"error":"no \"model\""})");
  EXPECT_EQ(error_response(Api::openai, error).body,
            R"({"error":{"message":"no \"model\"","type":"invalid_request_error","param":null,)"
            R"("code":"model_not_found"}})");
}

TEST(ApiError, SaysWhenToTryAgain) {
  const HttpResponse response = error_response(Api::openai, try_again(429, "slow", 7, "rate"));
  EXPECT_EQ(response.status, 429);
  ASSERT_EQ(response.headers.size(), 1u);
  EXPECT_EQ(response.headers[0], (std::pair<std::string, std::string>("Retry-After", "7")));
}

TEST(ApiError, MendsMessagesThatAreNoText) {
  EXPECT_EQ(error_response(Api::plain, ApiError(400, "\xff")).body, "{\"error\":\"\uFFFD\"}");
}

template <typename E>
ApiError seen(const E& error, bool is_input) {
  try {
    throw error;
  } catch (...) {
    return current_error(is_input);
  }
}

TEST(ApiError, ClientsSeeTheirMistakesOnly) {
  EXPECT_EQ(seen(Error("[translate] a prefix"), true).status, 400);
  EXPECT_STREQ(seen(Error("[translate] a prefix"), true).what(), "a prefix");
  EXPECT_EQ(seen(Error("[translate] a prefix"), false).status, 500);
  EXPECT_EQ(seen(QueueFull("full"), true).status, 503);
  EXPECT_EQ(seen(std::bad_alloc(), true).status, 503);
  EXPECT_EQ(seen(ApiError(413, "x"), true).status, 413);
  const ApiError bug = seen(std::logic_error("secret"), true);
  EXPECT_EQ(bug.status, 500);
  EXPECT_EQ(std::string(bug.what()).find("secret"), std::string::npos);
}

TEST(ApiError, RefusalsAreNoted) {
  const auto recorder = std::make_shared<Recorder>();
  Exchange exchange({}, recorder);
  refuse(exchange, try_again(503, "full", 1, "queue"));
  EXPECT_EQ(exchange.facts().refusal, "queue");
  EXPECT_EQ(recorder->answers.at(0).status, 503);
}

}  // namespace
}  // namespace heed::serve
