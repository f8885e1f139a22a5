// The paths that compute. Each function reads a request, gives its texts to a model and returns;
// the answer follows when the results are there. They throw ApiError and heed::Error for mistakes
// of the client.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "heed/serve/config.h"
#include "heed/serve/exchange.h"
#include "heed/serve/metrics.h"
#include "heed/serve/requests.h"
#include "heed/serve/served_model.h"
#include "heed/serve/task_pool.h"

namespace heed::serve {

/// A text with more bytes for each allowed token is refused unread; most tokens have three or four.
inline constexpr std::int64_t kBytesOfToken = 16;

/// What handlers use. It outlives their requests.
struct ApiContext {
  const ServeConfig& config;
  Metrics& metrics;
  TaskPool& pool;     ///< Ends of requests run here.
  TaskPool& viewers;  ///< Attention is computed here, one text at a time.
};

/// POST /translate
void translate(const ApiContext& context, const ServedModels& models, const TranslateBody& body,
               const ExchangePtr& exchange);
/// GET /languages, GET /frontend/settings
std::string languages_json(const ServedModels& models);
std::string settings_json(const ServeConfig& config, const ServedModels& models);

/// POST /v1/completions, /v1/chat/completions, /v1/embeddings, GET /v1/models
void complete(const ApiContext& context, const ServedModels& models, const CompletionBody& body,
              const ExchangePtr& exchange);
void chat(const ApiContext& context, const ServedModels& models, const ChatBody& body,
          const ExchangePtr& exchange);
void embed_texts(const ApiContext& context, const ServedModels& models, const EmbeddingBody& body,
                 const ExchangePtr& exchange);
std::string models_json(const ServedModels& models);

/// POST /v1/attention
void show_attention(const ApiContext& context, const ServedModels& models,
                    const AttentionBody& body, const ExchangePtr& exchange);

/// Runs a function that answers, and answers with its error if it throws.
void answer_or_error(const ExchangePtr& exchange, bool is_input, const std::function<void()>& work);
/// Throws ApiError (400) if a text is too long to have at most so many tokens. It is called before
/// texts are split into tokens, which takes long for some.
void check_bytes(std::size_t bytes, std::int64_t tokens);
/// Throws ApiError (400) if the texts of a request are too many or too long.
void check_texts(const Texts& texts, const ServeLimits& limits, const std::string& name);
/// Accepts texts of a request for a model, within the limits of the client and of the model. Throws
/// ApiError (400, 429, 503).
void reserve(const Exchange& exchange, ServedModel& model, std::int64_t texts);
/// Throws ApiError (400) if they have too many tokens.
void check_tokens(std::int64_t tokens, const ServeLimits& limits);

}  // namespace heed::serve
