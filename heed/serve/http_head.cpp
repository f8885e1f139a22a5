#include "heed/serve/http_head.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <string_view>

namespace heed::serve {
namespace {

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    default:
      return "";
  }
}

}  // namespace

std::string head_text(const HttpResponse& response, const HeadOptions& options) {
  std::string text = fmt::format(
      "HTTP/1.1 {} {}\r\nServer: heed\r\nDate: {:%a, %d %b %Y %H:%M:%S GMT}\r\n"
      "Connection: {}\r\nX-Content-Type-Options: nosniff\r\n",
      response.status, reason_of(response.status), fmt::gmtime(std::time(nullptr)),
      options.keeps_alive ? "keep-alive" : "close");
  const bool has_body = response.status != 204;
  if (has_body) text += fmt::format("Content-Type: {}\r\n", response.content_type);
  if (has_body && options.length) text += fmt::format("Content-Length: {}\r\n", *options.length);
  if (options.is_chunked) text += "Transfer-Encoding: chunked\r\n";
  for (const auto& [name, value] : response.headers) text += name + ": " + value + "\r\n";
  return text + "\r\n";
}

}  // namespace heed::serve
