// POST /v1/embeddings and GET /v1/models, in OpenAI's shapes. completions_api.cpp has the texts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "heed/generation/embed.h"
#include "heed/io/base64.h"
#include "heed/io/json.h"
#include "heed/serve/api_error.h"
#include "heed/serve/handlers.h"

namespace heed::serve {
namespace {

std::string vector_json(std::span<const float> vector, VectorFormat format) {
  if (format == VectorFormat::floats) return fmt::format("[{}]", fmt::join(vector, ","));
  const std::span<const std::byte> bytes = std::as_bytes(vector);
  return fmt::format("\"{}\"",
                     io::to_base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
}

std::string embeddings_json(const EmbeddingBody& body, const EmbedQueue::Vectors& vectors,
                            std::int64_t tokens) {
  std::string data;
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    HEED_CHECK(std::ranges::all_of(vectors[i], [](float x) { return std::isfinite(x); }),
               "[serve] the vector of text {} has values that are not numbers: the model is "
               "damaged",
               i);
    data += fmt::format("{}{{\"object\":\"embedding\",\"index\":{},\"embedding\":{}}}",
                        i == 0 ? "" : ",", i, vector_json(vectors[i], body.encoding_format));
  }
  return fmt::format(
      "{{\"object\":\"list\",\"data\":[{}],\"model\":{},\"usage\":{{\"prompt_tokens\":{},"
      "\"total_tokens\":{}}}}}",
      data, io::quote_json(body.model), tokens, tokens);
}

}  // namespace

void embed_texts(const ApiContext& context, const ServedModels& models, const EmbeddingBody& body,
                 const ExchangePtr& exchange) {
  check_texts(body.input, context.config.limits, "input");
  const ServedModelPtr model = find_model(models, body.model);
  exchange->note([&](Facts& facts) { facts.model = model->name(); });
  const TextEmbedder* const embedder = model->embedder();
  if (embedder == nullptr) {
    throw ApiError(400, model->name() + " is no sentence encoder: choose another model");
  }
  if (body.dimensions && *body.dimensions != embedder->model->vector_size()) {
    throw ApiError(400, fmt::format("vectors of {} dimensions: this model's have {}",
                                    *body.dimensions, embedder->model->vector_size()));
  }
  std::vector<ReadText> texts;
  std::int64_t tokens = 0;
  for (const std::string& text : body.input.items) {
    texts.push_back(read_text(*embedder, text));
    tokens += texts.back().size();
  }
  check_tokens(tokens, context.config.limits);
  exchange->note([&](Facts& facts) { facts.tokens_read = tokens; });
  const std::int64_t count = std::ssize(texts);
  reserve(*exchange, *model, count);
  const std::int64_t number = model->embeddings().submit(
      std::move(texts),
      [=, &context](EmbedQueue::Vectors vectors, const std::exception_ptr& error) {
        context.metrics.add_batch(model->name(), model->gauge().running);
        model->release(count);
        context.pool.post([=, &context, vectors = std::move(vectors)] {
          answer_or_error(exchange, false, [&] {
            if (error) std::rethrow_exception(error);
            context.metrics.add_tokens(model->name(), tokens, 0);
            exchange->answer({.body = embeddings_json(body, vectors, tokens)});
          });
        });
      });
  exchange->on_cancel([=] { model->embeddings().cancel(number); });
}

std::string models_json(const ServedModels& models) {
  io::Value::List list;
  for (const ServedModelPtr& model : models) {
    list.push_back({io::Value::Table{{"id", {model->name()}},
                                     {"object", {std::string("model")}},
                                     {"created", {model->created()}},
                                     {"owned_by", {std::string("heed")}},
                                     {"task", {std::string(io::enum_name(model->task()))}}}});
  }
  return io::write_json(
      {io::Value::Table{{"object", {std::string("list")}}, {"data", {std::move(list)}}}}, false);
}

}  // namespace heed::serve
