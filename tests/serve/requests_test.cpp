#include "heed/serve/requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/serve/api_error.h"

namespace heed::serve {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <io::Section Body>
std::string mistake(const std::string& body) {
  try {
    read_body<Body>({.body = body});
    return "none";
  } catch (const ApiError& error) {
    EXPECT_EQ(error.status, 400);
    return error.what();
  }
}

TEST(Requests, ReadATextOrAList) {
  const auto one = read_body<TranslateBody>({.body = R"({"q": "a", "target": "fr"})"});
  EXPECT_THAT(one.q.items, ElementsAre("a"));
  EXPECT_FALSE(one.q.is_list);
  const auto list = read_body<TranslateBody>({.body = R"({"q": ["a", "b"], "format": "html"})"});
  EXPECT_THAT(list.q.items, ElementsAre("a", "b"));
  EXPECT_TRUE(list.q.is_list);
  EXPECT_EQ(list.format, TextFormat::html);
}

TEST(Requests, ReadForms) {
  const auto body = read_body<TranslateBody>(
      {.body = "q=a+%E7%8B%97%3D%26&target=fr&alternatives=2&",
       .content_type = "application/x-www-form-urlencoded; charset=utf-8"});
  EXPECT_THAT(body.q.items, ElementsAre("a 狗=&"));
  EXPECT_EQ(body.alternatives, 2);
  const auto json = read_body<TranslateBody>(
      {.body = R"({"q": "a"})", .content_type = "application/x-www-form-urlencoded"});
  EXPECT_THAT(json.q.items, ElementsAre("a"));
  // What is no UTF-8 is refused wherever it is, also after an escaped equals sign.
  for (const char* const wrong : {"q=%ff", "%ff=a", "q%3D%ff", "q%3Da=b"}) {
    EXPECT_THROW(read_body<TranslateBody>(
                     {.body = wrong, .content_type = "application/x-www-form-urlencoded"}),
                 ApiError)
        << wrong;
  }
}

TEST(Requests, ReadChats) {
  const auto body = read_body<ChatBody>({.body = R"({"model": "m", "temperature": 0, "stop": null,
      "messages": [{"role": "user", "content": "a"},
                   {"role": "user", "content": [{"type": "text", "text": "b"},
                                                {"type": "text", "text": "c"}]}],
      "response_format": {"type": "json_object"}, "stream_options": {"include_usage": true}})"});
  ASSERT_EQ(body.messages.items.size(), 2u);
  EXPECT_EQ(body.messages.items[1].content, "bc");
  EXPECT_EQ(body.sampling.temperature, 0.0);
  EXPECT_TRUE(body.sampling.stream_options.include_usage);
  EXPECT_EQ(body.response_format.type, AnswerFormat::json_object);
}

TEST(Requests, SayWhatIsWrong) {
  EXPECT_THAT(mistake<TranslateBody>(R"({"q": 1})"), HasSubstr("q must be a string or a list"));
  EXPECT_THAT(mistake<TranslateBody>(R"({"q": ["a", 1]})"), HasSubstr("q[1] must be a string"));
  EXPECT_THAT(mistake<TranslateBody>(R"({"sorce": "en"})"), HasSubstr("did you mean \"source\""));
  EXPECT_THAT(mistake<TranslateBody>("{"), HasSubstr("request:1"));
  EXPECT_THAT(mistake<CompletionBody>(R"({"n": 99})"), HasSubstr("from 1 to 16"));
  EXPECT_THAT(mistake<CompletionBody>(R"({"temperature": "hot"})"), HasSubstr("a number"));
  EXPECT_THAT(mistake<ChatBody>(R"({"messages": [{"role": "user"}]})"), HasSubstr("messages[0]"));
  EXPECT_THAT(mistake<EmbeddingBody>(R"({"encoding_format": "hex"})"), HasSubstr("float, base64"));
  EXPECT_THAT(mistake<AttentionBody>(R"({"kinds": ["self"]})"), HasSubstr("encoder"));
}

TEST(Requests, NullIsTheDefault) {
  const auto body = read_body<CompletionBody>(
      {.body = R"({"model": "m", "prompt": "a", "n": null, "stream": null, "stop": null,
                   "stream_options": null, "seed": null})"});
  EXPECT_EQ(body.sampling.n, 1);
  EXPECT_FALSE(body.sampling.stream);
  EXPECT_THROW(read_body<CompletionBody>({.body = "[1]"}), ApiError);
  EXPECT_THROW(read_body<CompletionBody>({.body = "null"}), ApiError);
}

}  // namespace
}  // namespace heed::serve
