#include "heed/serve/server.h"

#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <vector>

#include "heed/base/error.h"
#include "heed/serve/session_start.h"

namespace heed::serve {
namespace {

using Tcp = boost::asio::ip::tcp;
using boost::system::error_code;
using SslContext = boost::asio::ssl::context;

constexpr std::chrono::milliseconds kBetweenChecks{50};
constexpr std::chrono::seconds kBetweenTidying{1};
constexpr int kBacklog = 4096;
constexpr int kMostRefused = 256;
constexpr std::chrono::milliseconds kForRefused{200};

// What a client is told that has too many connections. It is sent without waiting.
constexpr std::string_view kTooMany =
    "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 5\r\n"
    "Content-Type: application/json\r\nContent-Length: 32\r\n\r\n"
    "{\"error\":\"too many connections\"}";

// Each connection is a file.
void raise_file_limit() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

std::shared_ptr<SslContext> load_context(const ServeConfig& config) {
  auto context = std::make_shared<SslContext>(SslContext::tls_server);
  context->set_options(SslContext::default_workarounds | SslContext::no_tlsv1 |
                       SslContext::no_tlsv1_1);
  error_code error;
  context->use_certificate_chain_file(config.tls_certificate, error);
  HEED_CHECK(!error, "[serve] cannot use the certificate {}: {}", config.tls_certificate,
             error.message());
  context->use_private_key_file(config.tls_key, SslContext::pem, error);
  HEED_CHECK(!error, "[serve] cannot use the key {}: {}", config.tls_key, error.message());
  return context;
}

}  // namespace

class Server::Network {
 public:
  explicit Network(Service& service);

  void run(const ServerHooks& hooks);
  void stop() {
    boost::asio::post(main_, [this] { begin_stop(); });
  }
  std::uint16_t port() const { return port_; }

 private:
  void listen();
  void accept();
  void take(Tcp::socket socket);
  void refuse(Tcp::socket socket);
  void wait_for_signal();
  void reload();
  void begin_stop();
  void check_stop();
  void tidy();
  void say(const std::string& note) const {
    if (hooks_.say) hooks_.say(note);
  }

  Service& service_;
  const ServeConfig& config_;
  Connections connections_;  // outlives the connections, which end with io_
  boost::asio::io_context io_;
  boost::asio::strand<boost::asio::io_context::executor_type> main_{io_.get_executor()};
  Tcp::acceptor acceptor_{main_};
  boost::asio::signal_set signals_{main_};
  boost::asio::steady_timer stop_timer_{main_}, tidy_timer_{main_}, accept_timer_{main_};
  std::shared_ptr<SslContext> context_;  // null: http
  std::uint16_t port_ = 0;
  ServerHooks hooks_;
  int refused_ = 0;  // connections over the limit that are still open
  bool is_stopping_ = false, is_forced_ = false, is_reloading_ = false, reloads_again_ = false;
  std::chrono::steady_clock::time_point stop_at_;
  std::thread reloading_;
};

Server::Network::Network(Service& service)
    : service_(service), config_(service.config()), connections_(service) {
  raise_file_limit();
  if (!config_.tls_certificate.empty()) context_ = load_context(config_);
  listen();
}

void Server::Network::listen() {
  error_code error;
  const auto address = boost::asio::ip::make_address(config_.host, error);
  HEED_CHECK(!error,
             "[serve] {} is no address to listen on: give one such as 127.0.0.1, 0.0.0.0 "
             "or ::",
             config_.host);
  const Tcp::endpoint endpoint(address, config_.port);
  const auto check = [&] {
    HEED_CHECK(!error, "[serve] cannot listen on {} port {}: {}", config_.host, config_.port,
               error.message());
  };
  acceptor_.open(endpoint.protocol(), error);
  check();
  acceptor_.set_option(Tcp::acceptor::reuse_address(true), error);
  check();
  acceptor_.bind(endpoint, error);
  check();
  acceptor_.listen(kBacklog, error);
  check();
  port_ = acceptor_.local_endpoint().port();
}

void Server::Network::accept() {
  acceptor_.async_accept(boost::asio::make_strand(io_),
                         [this](const error_code& error, Tcp::socket socket) {
                           if (is_stopping_) return;
                           if (!error) {
                             take(std::move(socket));
                             return accept();
                           }
                           // Too many open files, for example: some will be closed.
                           accept_timer_.expires_after(kBetweenChecks);
                           accept_timer_.async_wait([this](const error_code& ended) {
                             if (!ended && !is_stopping_) accept();
                           });
                         });
}

void Server::Network::take(Tcp::socket socket) {
  error_code error;
  const Tcp::endpoint peer = socket.remote_endpoint(error);
  if (error) return;
  const std::string address = peer.address().to_string();
  if (!connections_.enter(client_of(address))) return refuse(std::move(socket));
  socket.set_option(Tcp::no_delay(true), error);
  Accepted accepted{std::move(socket), address};
  if (context_) {
    start_tls_session(std::move(accepted), context_, service_, connections_);
  } else {
    start_plain_session(std::move(accepted), service_, connections_);
  }
}

// Says so without waiting. Closing at once would discard the answer if the client has sent
// something, so some connections stay for a moment.
void Server::Network::refuse(Tcp::socket socket) {
  service_.metrics().refused("connections");
  if (context_) return;
  ::send(socket.native_handle(), kTooMany.data(), kTooMany.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  ::shutdown(socket.native_handle(), SHUT_WR);
  if (refused_ >= kMostRefused) return;
  ++refused_;
  const auto kept = std::make_shared<Tcp::socket>(std::move(socket));
  const auto timer = std::make_shared<boost::asio::steady_timer>(main_, kForRefused);
  timer->async_wait([this, kept, timer](const error_code&) {
    --refused_;
    std::array<char, 4096> ignored{};
    ::recv(kept->native_handle(), ignored.data(), ignored.size(), MSG_DONTWAIT);
  });
}

// ---- signals ------------------------------------------------------------------------------------

void Server::Network::wait_for_signal() {
  signals_.async_wait([this](const error_code& error, int signal) {
    if (error) return;
    if (signal == SIGHUP) {
      reload();
    } else if (is_stopping_) {
      std::_Exit(128 + signal);
    } else {
      begin_stop();
    }
    wait_for_signal();
  });
}

// On a thread of its own, because reading models takes long. What changes meanwhile is read after
// it.
void Server::Network::reload() {
  reloads_again_ = is_reloading_;
  if (is_stopping_ || is_reloading_) return;
  is_reloading_ = true;
  if (reloading_.joinable()) reloading_.join();
  reloading_ = std::thread([this] {
    try {
      if (hooks_.reload) hooks_.reload();
      std::shared_ptr<SslContext> fresh = context_ ? load_context(config_) : nullptr;
      boost::asio::post(main_, [this, fresh] { context_ = fresh; });
      say("models and keys were read again");
    } catch (const std::exception& error) {
      say(std::string("nothing was reloaded: ") + error.what());
    }
    boost::asio::post(main_, [this] {
      is_reloading_ = false;
      if (reloads_again_) reload();
    });
  });
}

void Server::Network::begin_stop() {
  if (is_stopping_) return;
  is_stopping_ = true;
  say("stopping");
  service_.stop();
  error_code ignored;
  acceptor_.close(ignored);
  connections_.close_when_idle();
  stop_at_ =
      std::chrono::steady_clock::now() +
      std::chrono::milliseconds(static_cast<std::int64_t>(1000 * config_.limits.stop_seconds));
  check_stop();
}

// Ends when no connection is left; requests that take too long are answered with an error.
void Server::Network::check_stop() {
  const auto now = std::chrono::steady_clock::now();
  const bool is_late = now > stop_at_;
  if (connections_.count() == 0 || now > stop_at_ + std::chrono::seconds(2)) return io_.stop();
  if (is_late && !is_forced_) {
    is_forced_ = true;
    connections_.close_now();
  }
  stop_timer_.expires_after(kBetweenChecks);
  stop_timer_.async_wait([this](const error_code& error) {
    if (!error) check_stop();
  });
}

void Server::Network::tidy() {
  service_.tidy();
  connections_.remove_gone();
  tidy_timer_.expires_after(kBetweenTidying);
  tidy_timer_.async_wait([this](const error_code& error) {
    if (!error) tidy();
  });
}

void Server::Network::run(const ServerHooks& hooks) {
  hooks_ = hooks;
  std::signal(SIGPIPE, SIG_IGN);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) signals_.add(signal);
  wait_for_signal();
  accept();
  tidy();
  std::vector<std::thread> threads;
  for (int i = 1; i < config_.http_threads; ++i) threads.emplace_back([this] { io_.run(); });
  io_.run();
  for (std::thread& thread : threads) thread.join();
  if (reloading_.joinable()) reloading_.join();
  service_.close();  // nothing answers to connections that are destroyed
}

Server::Server(Service& service) : network_(std::make_unique<Network>(service)) {}
Server::~Server() = default;
void Server::run(const ServerHooks& hooks) { network_->run(hooks); }
void Server::stop() { network_->stop(); }
std::uint16_t Server::port() const { return network_->port(); }

}  // namespace heed::serve
