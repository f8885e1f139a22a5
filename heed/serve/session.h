// One connection: reads requests one after another, gives them to the service, and writes answers.
// All of it runs on one strand; a Transport's functions post to it. Included by session_*.cpp only,
// since the network library takes long to compile. session_write.h has the half that writes.
#pragma once

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "heed/serve/api_error.h"
#include "heed/serve/connection.h"
#include "heed/serve/http_head.h"

namespace heed::serve {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using Tcp = asio::ip::tcp;
using TlsStream = asio::ssl::stream<Tcp::socket>;

template <typename Stream>
class Session : public Connection,
                public Transport,
                public std::enable_shared_from_this<Session<Stream>> {
 public:
  Session(Stream stream, Service& service, Connections& connections, std::string address)
      : stream_(std::move(stream)),
        service_(service),
        connections_(connections),
        address_(std::move(address)),
        limits_(service.config().limits),
        buffer_(static_cast<std::size_t>(limits_.header_bytes) + kReadBytes),
        deadline_(stream_.get_executor()),
        write_deadline_(stream_.get_executor()),
        watch_timer_(stream_.get_executor()) {}
  ~Session() override {
    connections_.drop(held_);
    connections_.leave(client_of(address_));
  }

  void start();

  // Connection
  void close_when_idle() override;
  void close_now() override;
  // Transport
  void answer(HttpResponse response) override;
  void begin(HttpResponse head) override;
  void write(std::string part) override;
  void end() override;
  void abort() override;

 private:
  static constexpr bool kIsTls = std::is_same_v<Stream, TlsStream>;
  static constexpr std::size_t kReadBytes = 64 << 10;
  static constexpr std::size_t kIdleBytes = 8 << 10;     // that a connection keeps between requests
  static constexpr std::size_t kMostPending = 16 << 20;  // bytes that a client has not read
  static constexpr double kLingerSeconds = 2;
  static constexpr std::chrono::milliseconds kBetweenLooks{200};
  static constexpr std::chrono::milliseconds kAfterEnd{50};  // that a client still waits
  enum class Phase : std::uint8_t { idle, header, body, request, linger };
  using Clock = std::chrono::steady_clock;

  auto self() { return this->shared_from_this(); }
  auto& socket() {
    if constexpr (kIsTls) {
      return stream_.next_layer();
    } else {
      return stream_;
    }
  }

  void wait_for_request();
  void read_header();
  void on_header(const error_code& error);
  void read_body();
  void read_more();
  void on_read_error(const error_code& error);
  void dispatch();
  void reject(const ApiError& error);
  HttpRequest take_request();
  std::optional<std::string> find_mistake() const;
  void watch();
  void check_gone(bool had_ended = false);
  bool is_hung_up();
  void on_gone();

  void set_deadline(Phase phase, double seconds);
  void on_deadline(Phase phase);

  bool hold(std::size_t bytes);
  void send(std::string bytes, std::string more = {});
  void pump();
  void on_written(const error_code& error);
  void finish_answer(bool is_complete);
  void linger();
  void close();
  bool keeps_alive() const { return keep_alive_ && !stops_; }

  Stream stream_;
  Service& service_;
  Connections& connections_;
  const std::string address_;
  const ServeLimits& limits_;
  boost::beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  asio::steady_timer deadline_, write_deadline_, watch_timer_;
  std::uint64_t waits_ = 0;  // tells an old timer or watch from the present one
  bool timed_out_ = false, stops_ = false, is_closed_ = false;

  // The request in progress.
  ExchangePtr exchange_;
  Clock::time_point began_;
  bool keep_alive_ = false, is_head_ = false, is_old_ = false, lingers_ = false;
  std::size_t held_ = 0;  // bytes of it and of its answer that connections_ counts
  // Its answer.
  std::vector<std::string> out_, writing_;
  std::size_t pending_ = 0;
  bool is_writing_ = false, is_whole_ = false, is_aborted_ = false;
  AnswerFacts facts_;
};

// ---- reading ------------------------------------------------------------------------------------

template <typename Stream>
void Session<Stream>::start() {
  connections_.add(std::weak_ptr<Connection>(self()));
  if constexpr (kIsTls) {
    set_deadline(Phase::idle, limits_.header_seconds);
    stream_.async_handshake(asio::ssl::stream_base::server, [me = self()](const error_code& error) {
      error ? me->close() : me->wait_for_request();
    });
  } else {
    asio::post(stream_.get_executor(), [me = self()] { me->wait_for_request(); });
  }
}

template <typename Stream>
void Session<Stream>::wait_for_request() {
  if (stops_) return close();
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(limits_.header_bytes));
  parser_->body_limit(static_cast<std::uint64_t>(limits_.body_bytes));
  timed_out_ = false;
  if (buffer_.size() > 0) return read_header();
  if (buffer_.capacity() > kIdleBytes) buffer_.shrink_to_fit();
  set_deadline(Phase::idle, limits_.idle_seconds);
  stream_.async_read_some(buffer_.prepare(4096),
                          [me = self()](const error_code& error, std::size_t bytes) {
                            if (error) return me->close();
                            me->buffer_.commit(bytes);
                            me->read_header();
                          });
}

template <typename Stream>
void Session<Stream>::read_header() {
  began_ = Clock::now();
  set_deadline(Phase::header, limits_.header_seconds);
  http::async_read_header(
      stream_, buffer_, *parser_,
      [me = self()](const error_code& error, std::size_t) { me->on_header(error); });
}

template <typename Stream>
void Session<Stream>::on_header(const error_code& error) {
  if (error) return on_read_error(error);
  if (const std::optional<std::string> mistake = find_mistake()) {
    return reject(ApiError(400, *mistake));
  }
  if (!boost::beast::iequals(parser_->get()[http::field::expect], "100-continue")) {
    return read_body();
  }
  static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  asio::async_write(stream_, asio::buffer(kContinue),
                    [me = self()](const error_code& failed, std::size_t) {
                      failed ? me->close() : me->read_body();
                    });
}

template <typename Stream>
void Session<Stream>::read_body() {
  set_deadline(Phase::body, limits_.body_seconds);
  parser_->eager(true);  // takes all that has arrived
  read_more();
}

// What has arrived counts, not what was announced.
template <typename Stream>
void Session<Stream>::read_more() {
  const std::size_t size = parser_->get().body().size();
  if (size > held_ && !hold(size - held_)) {
    return reject(try_again(503, "the server has too much to do", 1, "memory"));
  }
  if (parser_->is_done()) return dispatch();
  http::async_read_some(stream_, buffer_, *parser_,
                        [me = self()](const error_code& error, std::size_t) {
                          error ? me->on_read_error(error) : me->read_more();
                        });
}

// What the parser lets pass and a server must not.
template <typename Stream>
std::optional<std::string> Session<Stream>::find_mistake() const {
  const auto& request = parser_->get();
  if (request.target().empty() || request.target()[0] != '/') return "the target is no path";
  const auto count = [&](http::field name) {
    const auto [first, last] = request.equal_range(name);
    return std::distance(first, last);
  };
  const auto hosts = count(http::field::host);
  if (hosts > 1 || (hosts == 0 && request.version() >= 11)) return "the request needs one Host";
  const auto encodings = count(http::field::transfer_encoding);
  if (count(http::field::content_length) + encodings > 1) {
    return "the length of the body is not certain";
  }
  if (encodings == 1 && !parser_->chunked()) return "a body must be chunked or have a length";
  return {};
}

template <typename Stream>
void Session<Stream>::on_read_error(const error_code& error) {
  if (error == http::error::end_of_stream || is_closed_) return close();
  if (timed_out_) return reject(try_again(408, "the request took too long to arrive", 1, "slow"));
  if (error == http::error::body_limit) {
    ApiError large(413, fmt::format("a request has at most {} bytes", limits_.body_bytes));
    large.cause = "body";
    return reject(large);
  }
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    ApiError large(431, fmt::format("headers have at most {} bytes", limits_.header_bytes));
    large.cause = "headers";
    return reject(large);
  }
  const bool is_parser =
      error.category() == http::make_error_code(http::error::bad_line_ending).category();
  if (!is_parser || error == http::error::partial_message) return close();
  reject(ApiError(400, "this is no valid HTTP request: " + error.message()));
}

template <typename Stream>
HttpRequest Session<Stream>::take_request() {
  auto& request = parser_->get();
  const auto field = [&](auto name) {
    const auto value = request[name];
    return std::string(value.data(), value.size());
  };
  const std::string target(request.target().data(), request.target().size());
  const auto method = request.method_string();
  return {.method = std::string(method.data(), method.size()),
          .path = target.substr(0, target.find('?')),
          .body = std::move(request.body()),
          .authorization = field(http::field::authorization),
          .api_key = field("X-API-Key"),
          .content_type = field(http::field::content_type),
          .origin = field(http::field::origin),
          .address = address_};
}

template <typename Stream>
void Session<Stream>::dispatch() {
  keep_alive_ = parser_->keep_alive();
  is_old_ = parser_->get().version() < 11;
  exchange_ = std::make_shared<Exchange>(take_request(), std::weak_ptr<Transport>(self()));
  is_head_ = exchange_->request.method == "HEAD";
  facts_ = {};
  set_deadline(Phase::request, limits_.request_seconds);
  watch();
  service_.handle(exchange_);
}

// Answers what is no complete request; the connection cannot be used after it.
template <typename Stream>
void Session<Stream>::reject(const ApiError& error) {
  keep_alive_ = false;
  lingers_ = true;
  is_head_ = false;
  is_old_ = false;
  facts_ = {};
  exchange_ = std::make_shared<Exchange>(take_request(), std::weak_ptr<Transport>(self()));
  ++waits_;
  deadline_.cancel();
  service_.reject(*exchange_, error);
}

// Waits until the client closes the connection while its request is computed. Once all of the
// answer is there, only writing it can fail.
template <typename Stream>
void Session<Stream>::watch() {
  socket().async_wait(Tcp::socket::wait_read,
                      [me = self(), exchange = exchange_](const error_code& error) {
                        if (error || me->exchange_ != exchange || me->is_whole_) return;
                        me->check_gone();
                      });
}

// Bytes that have arrived are the next request, or the end of encryption; they stay where they are,
// so that from now on only a timer can tell whether the client is there. A client that has ended
// its half of the connection may still read: it gets what is answered at once, and has left if the
// answer takes longer.
template <typename Stream>
void Session<Stream>::check_gone(bool had_ended) {
  char byte = 0;
  const auto count = ::recv(socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return watch();
  const bool has_ended = count == 0;
  if (count < 0 || is_hung_up() || (has_ended && had_ended)) return on_gone();
  watch_timer_.expires_after(has_ended ? kAfterEnd : kBetweenLooks);
  watch_timer_.async_wait([me = self(), exchange = exchange_, has_ended](const error_code& error) {
    if (!error && me->exchange_ == exchange && !me->is_whole_) me->check_gone(has_ended);
  });
}

// An encrypted connection ends with a last message before its end.
template <typename Stream>
bool Session<Stream>::is_hung_up() {
  constexpr short kEnds = POLLHUP | POLLERR | (kIsTls ? POLLRDHUP : 0);
  pollfd poll{.fd = socket().native_handle(), .events = kEnds, .revents = 0};
  return ::poll(&poll, 1, 0) > 0 && (poll.revents & kEnds) != 0;
}

template <typename Stream>
void Session<Stream>::on_gone() {
  if (facts_.status == 0) facts_.status = 499;  // nginx's number for this
  const ExchangePtr gone = exchange_;
  finish_answer(false);
  gone->cancel();
}

// ---- time ---------------------------------------------------------------------------------------

template <typename Stream>
void Session<Stream>::set_deadline(Phase phase, double seconds) {
  deadline_.expires_after(
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)));
  deadline_.async_wait([me = self(), phase, wait = ++waits_](const error_code& error) {
    if (!error && wait == me->waits_) me->on_deadline(phase);
  });
}

template <typename Stream>
void Session<Stream>::on_deadline(Phase phase) {
  error_code ignored;
  switch (phase) {
    case Phase::header:
    case Phase::body:
      timed_out_ = true;
      socket().cancel(ignored);  // the read ends with an error
      break;
    case Phase::request:
      if (exchange_) {
        const ExchangePtr late = exchange_;
        late->expire(try_again(503, "the answer took too long", 5, "time"));
      }
      break;
    case Phase::idle:
    case Phase::linger:
      close();
      break;
  }
}

template <typename Stream>
void Session<Stream>::close_when_idle() {
  asio::post(stream_.get_executor(), [me = self()] {
    me->stops_ = true;
    if (!me->exchange_ && me->buffer_.size() == 0) me->close();
  });
}

template <typename Stream>
void Session<Stream>::close_now() {
  asio::post(stream_.get_executor(), [me = self()] {
    me->stops_ = true;
    const ExchangePtr late = me->exchange_;
    if (!late) return me->close();
    late->expire(try_again(503, "the server stops", 5, "stopping"));
  });
}

}  // namespace heed::serve

#include "heed/serve/session_write.h"  // IWYU pragma: keep
