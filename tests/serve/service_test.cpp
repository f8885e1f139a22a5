// Requests and answers of every path, without sockets.
#include "heed/serve/service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/generation/embed.h"
#include "heed/io/base64.h"
#include "heed/io/file.h"
#include "heed/io/safetensors.h"
#include "tests/serve/small_service.h"

namespace heed::serve {
namespace {

using testing::HasSubstr;

class ServiceTest : public testing::Test {
 protected:
  Service service{small_models().config()};
};

TEST_F(ServiceTest, TranslatesAsTheTranslator) {
  const Translator translator = load_translator(small_models().dir() / "en-fr", PackedForm::f32);
  const auto expected = [&](const std::string& text) {
    return translator.translate({&text, 1}, {.search = translator.format().search})[0][0].text;
  };
  HttpResponse answer = post(service, "/translate", R"({"q": "abc", "target": "fr"})");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(text_at(answer.body, "translatedText"), expected("abc"));
  EXPECT_EQ(text_at(answer.body, "detectedLanguage.language"), "en");
  answer = post(service, "/translate",
                R"({"q": ["abc", "ha", ""], "source": "en", "target": "fr", "alternatives": 2})");
  EXPECT_EQ(text_at(answer.body, "translatedText.1"), expected("ha"));
  EXPECT_EQ(text_at(answer.body, "translatedText.2"), "");
  EXPECT_EQ(member(answer.body, "alternatives.0").list()->size(), 2u);
  answer = post(service, "/translate",
                R"({"q": "<b>abc</b>\n<i>ha</i>", "target": "fr", "format": "html"})");
  EXPECT_EQ(text_at(answer.body, "translatedText"),
            "<b>" + expected("abc") + "</b>\n<i>" + expected("ha") + "</i>");
  EXPECT_EQ(post(service, "/translate", R"({"q": "a", "target": "xx"})").status, 400);
  EXPECT_EQ(post(service, "/translate", R"({"q": [], "target": "fr"})").status, 400);
}

TEST_F(ServiceTest, ListsLanguagesAndModels) {
  EXPECT_EQ(ask(service, {.path = "/languages"}).body,
            R"([{"code":"en","name":"English","targets":["fr"]}])");
  EXPECT_EQ(text_at(ask(service, {.path = "/frontend/settings"}).body, "language.target.code"),
            "fr");
  const std::string models = ask(service, {.path = "/v1/models"}).body;
  EXPECT_EQ(text_at(models, "data.2.id"), "vectors");
  EXPECT_EQ(text_at(models, "data.2.task"), "embed");
}

TEST_F(ServiceTest, ContinuesTexts) {
  const std::string body = R"({"model": "text", "prompt": "abc", "max_tokens": 9, "seed": 5,)";
  const HttpResponse whole = post(service, "/v1/completions", body + R"("logprobs": 0})");
  ASSERT_EQ(whole.status, 200) << whole.body;
  const std::string text = text_at(whole.body, "choices.0.text");
  EXPECT_EQ(*member(whole.body, "usage.completion_tokens").integer(), 9);
  EXPECT_EQ(text_at(whole.body, "choices.0.finish_reason"), "length");
  EXPECT_EQ(member(whole.body, "choices.0.logprobs.tokens").list()->size(), 9u);
  const HttpResponse stream = post(service, "/v1/completions", body + R"("stream": true})");
  std::string streamed;
  for (std::size_t at = 0; (at = stream.body.find("data: {", at)) != std::string::npos; ++at) {
    const std::string event = stream.body.substr(at + 6, stream.body.find('\n', at) - at - 6);
    streamed += text_at(event, "choices.0.text");
  }
  EXPECT_EQ(streamed, text);
  EXPECT_TRUE(stream.body.ends_with("data: [DONE]\n\n"));
  EXPECT_EQ(post(service, "/v1/completions", body + R"("n": 0})").status, 400);
  const HttpResponse chat =
      post(service, "/v1/chat/completions",
           R"({"model": "text", "messages": [{"role": "user", "content": "a"}]})");
  EXPECT_THAT(text_at(chat.body, "error.message"), HasSubstr("chat template"));
}

TEST_F(ServiceTest, EmbedsTexts) {
  const TextEmbedder embedder =
      load_text_embedder(small_models().dir() / "vectors", PackedForm::f32);
  const std::vector<std::string> texts = {"abc", "h"};
  const std::vector<float> expected = heed::embed_texts(embedder, texts).to_vector<float>();
  const std::span<const std::byte> bytes = std::as_bytes(std::span(expected).first(16));
  const HttpResponse answer =
      post(service, "/v1/embeddings",
           R"({"model": "vectors", "input": ["abc", "h"], "encoding_format": "base64"})");
  EXPECT_EQ(text_at(answer.body, "data.0.embedding"),
            io::to_base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  const HttpResponse plain =
      post(service, "/v1/embeddings", R"({"model": "vectors", "input": "h"})");
  EXPECT_EQ(static_cast<float>(*member(plain.body, "data.0.embedding.0").floating()), expected[16]);
  EXPECT_EQ(
      post(service, "/v1/embeddings", R"({"model": "vectors", "input": "h", "dimensions": 3})")
          .status,
      400);
}

TEST_F(ServiceTest, ShowsAttention) {
  const std::string body = R"({"model": "en-fr", "input": "abc", "kinds": ["cross"])";
  const HttpResponse json = post(service, "/v1/attention", body + R"(, "heads": [2]})");
  EXPECT_EQ(text_at(json.body, "parts.0.columns.0"), "a");
  EXPECT_EQ(member(json.body, "parts.0.weights.0").list()->size(), 1u);
  const HttpResponse file = post(service, "/v1/attention", body + R"(, "format": "safetensors"})");
  const auto tensors = io::SafetensorsFile::parse(std::as_bytes(std::span(file.body)));
  EXPECT_EQ(tensors.find("cross.1").shape[0], 2);
  EXPECT_EQ(post(service, "/v1/attention", body + R"(, "heads": [3]})").status, 400);
  EXPECT_THAT(post(service, "/v1/attention",
                   R"({"model": "en-fr", "input": ")" + std::string(400, 'a') + "\"}")
                  .body,
              HasSubstr("up to 320"));
}

TEST_F(ServiceTest, RoutesByMethodAndPath) {
  EXPECT_EQ(ask(service, {.path = "/none"}).status, 404);
  EXPECT_EQ(text_at(ask(service, {.path = "/v1/none"}).body, "error.type"),
            "invalid_request_error");
  EXPECT_EQ(ask(service, {.method = "DELETE", .path = "/translate"}).status, 405);
  EXPECT_EQ(ask(service, {.method = "HEAD", .path = "/healthz"}).status, 200);
  EXPECT_EQ(ask(service, {.method = "OPTIONS", .path = "/translate"}).status, 204);
  EXPECT_EQ(ask(service, {.path = "/../../etc/passwd"}).status, 404);
}

TEST_F(ServiceTest, StopsAcceptingInOrder) {
  EXPECT_EQ(ask(service, {.path = "/readyz"}).status, 200);
  service.stop();
  EXPECT_EQ(ask(service, {.path = "/readyz"}).status, 503);
  EXPECT_EQ(ask(service, {.path = "/healthz"}).status, 200);
  EXPECT_EQ(post(service, "/translate", R"({"q": "a", "target": "fr"})").status, 503);
}

TEST_F(ServiceTest, CancelledRequestsEnd) {
  for (int i = 0; i < 50; ++i) {
    const auto recorder = std::make_shared<Recorder>();
    const auto exchange = std::make_shared<Exchange>(
        HttpRequest{.method = "POST",
                    .path = "/v1/completions",
                    .body = R"({"model": "text", "prompt": "abc", "max_tokens": 12, "n": 8})"},
        recorder);
    service.handle(exchange);
    exchange->cancel();
  }
  EXPECT_EQ(post(service, "/v1/completions", R"({"model": "text", "prompt": "a"})").status, 200);
}

TEST_F(ServiceTest, ReloadsWhileItAnswers) {
  const std::string body = R"({"q": "abc", "target": "fr"})";
  const std::string before = post(service, "/translate", body).body;
  service.reload(small_models().config());
  EXPECT_EQ(post(service, "/translate", body).body, before);
  service.tidy();
  ServeConfig bad = small_models().config();
  bad.models = {"x=/nowhere"};
  EXPECT_THROW(service.reload(bad), Error);
  EXPECT_EQ(post(service, "/translate", body).body, before);
  EXPECT_EQ(service.metrics().reloads, 1);
  EXPECT_EQ(service.metrics().failed_reloads, 1);
}

TEST(Service, AsksForKeys) {
  const NewKey key = make_key("alice");
  ServeConfig config = small_models().config();
  config.keys = (small_models().dir() / "keys").string();
  io::write_file(config.keys, key.line + " 3\n");
  Service service(config);
  const std::string body = R"({"q": "a", "target": "fr")";
  EXPECT_EQ(post(service, "/translate", body + "}").status, 403);
  EXPECT_EQ(post(service, "/translate", body + R"(, "api_key": ")" + key.key + "\"}").status, 200);
  EXPECT_EQ(ask(service, {.path = "/v1/models"}).status, 401);
  EXPECT_EQ(ask(service, {.path = "/v1/models", .authorization = "Bearer " + key.key}).status, 200);
  EXPECT_EQ(ask(service, {.path = "/v1/models", .api_key = key.key}).status, 200);
  EXPECT_EQ(ask(service, {.path = "/v1/models", .api_key = key.key}).status, 429);  // 3 a minute
  EXPECT_EQ(ask(service, {.path = "/healthz"}).status, 200);
}

TEST(Service, AllowsOriginsThatAreNamed) {
  ServeConfig config = small_models().config();
  config.cors = {"https://a.example"};
  Service service(config);
  const auto allowed = [&](const std::string& origin) {
    for (const auto& [name, value] : ask(service, {.path = "/healthz", .origin = origin}).headers) {
      if (name == "Access-Control-Allow-Origin") return value;
    }
    return std::string();
  };
  EXPECT_EQ(allowed("https://a.example"), "https://a.example");
  EXPECT_EQ(allowed("https://b.example"), "");
}

TEST(Service, LimitsTheQueueOfAModel) {
  ServeConfig config = small_models().config();
  config.limits.queue = 2;
  Service service(config);
  const std::string path = "/translate";
  EXPECT_EQ(post(service, path, R"({"q": ["a", "b", "c"], "target": "fr"})").status, 400);
  EXPECT_EQ(post(service, path, R"({"q": ["a", "b"], "target": "fr"})").status, 200);
}

TEST(Service, LimitsWhatAClientHasInQueues) {
  ServeConfig config = small_models().config();
  config.limits.texts_per_client = 2;
  config.limits.requests_per_client = 1;
  Service service(config);
  const std::string path = "/translate";
  EXPECT_EQ(post(service, path, R"({"q": ["a", "b", "c"], "target": "fr"})").status, 400);
  // A place is free as soon as the answer is complete, though this exchange still lives.
  const auto recorder = std::make_shared<Recorder>();
  const auto exchange =
      std::make_shared<Exchange>(HttpRequest{.method = "POST",
                                             .path = path,
                                             .body = R"({"q": ["a", "b"], "target": "fr"})",
                                             .address = "127.0.0.1"},
                                 recorder);
  service.handle(exchange);
  recorder->wait();
  EXPECT_EQ(post(service, path, R"({"q": "a", "target": "fr"})").status, 429);
  service.finished(*exchange, {.status = 200});
  EXPECT_EQ(post(service, path, R"({"q": ["a", "b"], "target": "fr"})").status, 200);
}

TEST(Service, LimitsStopStrings) {
  Service service(small_models().config());
  std::string stops = "\"b\"";
  for (int i = 0; i < 20; ++i) stops += ", \"b\"";
  const HttpResponse many = post(service, "/v1/completions",
                                 R"({"model": "text", "prompt": "a", "stop": [)" + stops + "]}");
  EXPECT_EQ(many.status, 400);
  EXPECT_THAT(many.body, testing::HasSubstr("stop"));
}

TEST(Service, AKeyInTheBodyIsLimitedByAddressBefore) {
  const TempDir dir;
  const NewKey key = make_key("alice");
  io::write_file(dir / "keys", key.line + "\n");
  ServeConfig config = small_models().config();
  config.keys = (dir / "keys").string();
  config.limits.bad_keys_per_minute = 1;
  Service service(config);
  const std::string body = R"({"q": "a", "target": "fr", "api_key": ")";
  EXPECT_EQ(post(service, "/translate", body + key.key + "\"}").status, 200);
  EXPECT_EQ(post(service, "/translate", body + "no\"}").status, 403);
  EXPECT_EQ(post(service, "/translate", "{").status, 429) << "before the body is read";
}

TEST(Service, CloseEndsWhatRuns) {
  Service service(small_models().config());
  std::vector<std::shared_ptr<Recorder>> recorders;
  std::vector<ExchangePtr> exchanges;
  for (int i = 0; i < 20; ++i) {
    recorders.push_back(std::make_shared<Recorder>());
    exchanges.push_back(std::make_shared<Exchange>(
        HttpRequest{.method = "POST",
                    .path = "/v1/completions",
                    .body = R"({"model": "text", "prompt": "abc", "max_tokens": 12, "n": 8})"},
        recorders.back()));
    service.handle(exchanges.back());
  }
  service.close();
  for (const auto& recorder : recorders) {
    ASSERT_EQ(recorder->answers.size(), 1u) << "each is answered before close() returns";
  }
}

}  // namespace
}  // namespace heed::serve
