#include <gtest/gtest.h>

#include "tests/serve/small_service.h"

namespace heed::serve {
namespace {

TEST(OpenApi, DescribesEveryPathAndMember) {
  const io::Value all = io::parse_json(openapi_json(), "openapi.json");
  const io::Value::Table& paths = *io::find(*all.table(), "paths")->table();
  EXPECT_EQ(paths.size(), Service::routes().size());
  const std::string chat =
      "paths./v1/chat/completions.post.requestBody.content.application/json.schema.properties.";
  EXPECT_EQ(text_at(openapi_json(), chat + "temperature.type"), "number");
  EXPECT_EQ(*member(openapi_json(), chat + "temperature.maximum").floating(), 2.0);
  EXPECT_EQ(text_at(openapi_json(), chat + "messages.items.type"), "object");
  EXPECT_EQ(text_at(openapi_json(), chat + "stream.type"), "boolean");
  EXPECT_EQ(text_at(openapi_json(), chat + "stream_options.properties.include_usage.type"),
            "boolean");
  EXPECT_EQ(text_at(openapi_json(), chat + "response_format.properties.type.enum.1"),
            "json_object");
}

}  // namespace
}  // namespace heed::serve
