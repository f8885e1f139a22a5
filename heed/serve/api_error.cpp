#include "heed/serve/api_error.h"

#include <new>

#include "heed/base/error.h"
#include "heed/generation/request.h"
#include "heed/io/json.h"
#include "heed/text/unicode.h"

namespace heed::serve {
namespace {

// OpenAI's names of kinds of errors.
std::string type_of(int status) {
  if (status == 401) return "authentication_error";
  if (status == 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

// Messages of the library begin with the name of a part, which says nothing to clients.
std::string without_part(const std::string& message) {
  const std::size_t end = message.starts_with('[') ? message.find("] ") : std::string::npos;
  return end == std::string::npos ? message : message.substr(end + 2);
}

}  // namespace

ApiError try_again(int status, const std::string& message, int seconds, std::string cause) {
  ApiError error(status, message, status == 429 ? "rate_limit_exceeded" : "overloaded");
  error.retry_after = seconds;
  error.cause = std::move(cause);
  return error;
}

HttpResponse error_response(Api api, const ApiError& error) {
  const std::string message = unicode::make_valid(error.what());
  io::Value::Table body;
  if (api == Api::openai) {
    io::Value code;
    if (!error.code.empty()) code.data = error.code;
    body.push_back({"error",
                    {io::Value::Table{{"message", {message}},
                                      {"type", {type_of(error.status)}},
                                      {"param", {}},
                                      {"code", std::move(code)}}}});
  } else {
    body.push_back({"error", {message}});
  }
  HttpResponse response{.status = error.status, .body = io::write_json({std::move(body)}, false)};
  if (error.retry_after) {
    response.headers.emplace_back("Retry-After", std::to_string(*error.retry_after));
  }
  if (error.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

void refuse(Exchange& exchange, const ApiError& error) {
  if (!error.cause.empty()) exchange.note([&](Facts& facts) { facts.refusal = error.cause; });
  exchange.answer(error_response(exchange.api, error));
}

ApiError current_error(bool is_input) {
  try {
    throw;
  } catch (const ApiError& error) {
    return error;
  } catch (const QueueFull& error) {
    return try_again(503, without_part(error.what()), 1, "queue");
  } catch (const Error& error) {
    return {is_input ? 400 : 500, without_part(error.what())};
  } catch (const std::bad_alloc&) {
    return try_again(503, "the server is short of memory", 5, "memory");
  } catch (const std::exception&) {
    return {500, "an error inside the server; its log has more"};
  }
}

}  // namespace heed::serve
