// Errors that clients see: a status, a message, and the JSON form of the API that was called.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>

#include "heed/serve/exchange.h"

namespace heed::serve {

class ApiError : public std::runtime_error {
 public:
  ApiError(int status_code, const std::string& message, std::string code_name = {})
      : std::runtime_error(message), status(status_code), code(std::move(code_name)) {}

  int status;
  std::string code;                     ///< OpenAI's, such as model_not_found; "": none.
  std::optional<int> retry_after = {};  ///< Seconds.
  std::string cause = {};               ///< Of a refusal, for the metrics: "rate", "queue", ….
};

/// An error after which the client should try again later.
ApiError try_again(int status, const std::string& message, int seconds, std::string cause);

/// The answer for an error, in the form of an API:
///   plain, translate:  {"error": "message"}
///   openai:            {"error": {"message": …, "type": …, "param": null, "code": …}}
HttpResponse error_response(Api api, const ApiError& error);

/// Answers with an error, and notes the cause if it is a refusal.
void refuse(Exchange& exchange, const ApiError& error);

/// The error that is being handled, as clients may see it: heed::Error is the client's mistake if
/// `is_input`, else the server's. Call it in a catch block.
ApiError current_error(bool is_input);

}  // namespace heed::serve
