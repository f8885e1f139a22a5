// One HTTP request and its answer, without sockets: handlers see this, a Transport carries it. All
// functions may be called from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace heed::serve {

class ApiError;
class ClientPermit;

struct HttpRequest {
  std::string method = "GET";
  std::string path = "/";  ///< As sent, without the query.
  std::string body = {};
  std::string authorization = {};  ///< The header of that name.
  std::string api_key = {};        ///< The header X-API-Key.
  std::string content_type = {};   ///< The header of that name.
  std::string origin = {};         ///< The header of that name.
  std::string address = {};        ///< Of the client.
};

struct HttpResponse {
  int status = 200;
  std::string body = {};
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers = {};
};

/// What carries answers to the client. Functions are called in order, by one thread at a time, and
/// must not wait for the client.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual void answer(HttpResponse response) = 0;
  /// Begins an answer in parts; the body of `head` is the first part if it is not empty.
  virtual void begin(HttpResponse head) = 0;
  virtual void write(std::string part) = 0;
  virtual void end() = 0;
  /// Ends an answer in parts so that the client sees that it is incomplete.
  virtual void abort() = 0;
};

/// The forms of errors.
enum class Api : std::uint8_t { plain, translate, openai };

/// What the log and the metrics say about a request.
struct Facts {
  std::string route = "other";  ///< A path of the list of routes, never a client's text.
  std::string client = {};      ///< The name of the key, or the address.
  std::string model = {};
  std::int64_t tokens_read = 0, tokens_written = 0;
  std::string refusal = {};  ///< Why it was refused, such as "rate" or "queue"; "": it was not.
};

class Exchange {
 public:
  Exchange(HttpRequest given, std::weak_ptr<Transport> transport)
      : request(std::move(given)), transport_(std::move(transport)) {}
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  HttpRequest request;
  Api api = Api::plain;
  std::vector<std::pair<std::string, std::string>> headers = {};  ///< Of whatever is answered.
  bool needs_key = false;  ///< Whether the key is still to be read from the body.

  /// Sends the answer. Only the first answer of an exchange counts.
  void answer(HttpResponse response);
  /// An answer in parts.
  void begin(HttpResponse head);
  void write(std::string part);
  void end();

  /// Ends the work because nobody waits for it any more: the function given to on_cancel runs.
  void cancel();
  /// Cancels the work and answers with an error: the time is over, or the server stops.
  void expire(const ApiError& error);
  /// Sets what cancel() calls, at once if it was called already. It is dropped with the answer.
  void on_cancel(std::function<void()> action);
  bool is_cancelled() const;
  bool is_open() const;  ///< Whether the answer is not complete.

  /// Keeps a place among the requests of the client, until release() or the exchange's end.
  void hold(std::shared_ptr<ClientPermit> permit);
  std::shared_ptr<ClientPermit> permit() const;
  void release();

  Facts facts() const;
  void note(const std::function<void(Facts&)>& change);

 private:
  enum class State : std::uint8_t { open, streaming, closed };

  mutable std::mutex mutex_;
  std::weak_ptr<Transport> transport_;
  State state_ = State::open;
  bool is_cancelled_ = false;
  std::function<void()> on_cancel_;
  Facts facts_;
  std::shared_ptr<ClientPermit> permit_;
};
using ExchangePtr = std::shared_ptr<Exchange>;

}  // namespace heed::serve
