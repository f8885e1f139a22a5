#include "heed/serve/handlers.h"

#include <fmt/format.h>

#include "heed/generation/request.h"
#include "heed/serve/api_error.h"
#include "heed/serve/client_limits.h"

namespace heed::serve {

void answer_or_error(const ExchangePtr& exchange, bool is_input,
                     const std::function<void()>& work) {
  try {
    work();
  } catch (const Cancelled&) {
    exchange->expire(try_again(503, "the request was cancelled", 1, "cancelled"));
  } catch (...) {
    const ApiError error = current_error(is_input);
    refuse(*exchange, error);
    exchange->expire(error);  // if it is a stream
  }
}

void check_bytes(std::size_t bytes, std::int64_t tokens) {
  if (static_cast<std::int64_t>(bytes) / kBytesOfToken <= tokens) return;
  throw ApiError(
      400,
      fmt::format("a text of {} bytes, which has more than {} tokens: shorten it", bytes, tokens),
      "context_length_exceeded");
}

void check_texts(const Texts& texts, const ServeLimits& limits, const std::string& name) {
  if (texts.items.empty()) throw ApiError(400, name + " is missing or empty");
  if (std::ssize(texts.items) > limits.texts) {
    throw ApiError(400, fmt::format("{} has {} texts: send at most {} in a request", name,
                                    texts.items.size(), limits.texts));
  }
  std::size_t bytes = 0;
  for (const std::string& text : texts.items) bytes += text.size();
  check_bytes(bytes, limits.source_tokens);
}

void reserve(const Exchange& exchange, ServedModel& model, std::int64_t texts) {
  if (const auto permit = exchange.permit()) permit->add_texts(texts);
  model.reserve(texts);
}

void check_tokens(std::int64_t tokens, const ServeLimits& limits) {
  if (tokens > limits.source_tokens) {
    throw ApiError(
        400,
        fmt::format("the request has {} tokens: send at most {}", tokens, limits.source_tokens),
        "context_length_exceeded");
  }
}

}  // namespace heed::serve
