// The network of a server: listens, reads and writes HTTP/1.1 on a few threads, and stops in order.
// Its threads never compute and never wait for a client.
//
//   Service service(config);
//   Server server(service);
//   server.run({.reload = …, .say = …});   // until SIGTERM or SIGINT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "heed/serve/service.h"

namespace heed::serve {

struct ServerHooks {
  std::function<void()> reload = {};                      ///< On SIGHUP; may take long.
  std::function<void(const std::string& note)> say = {};  ///< Notes for whoever runs it.
};

class Server {
 public:
  /// Listens; connections wait until run(). The service must outlive it.
  explicit Server(Service& service);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Serves until stop() or a signal. On SIGTERM and SIGINT it accepts no more, finishes what is
  /// in progress, at most for limits.stop_seconds, and returns; a second signal ends it at once.
  void run(const ServerHooks& hooks = {});
  /// Stops it in order; may be called from any thread.
  void stop();
  /// The port, also if any free one was asked for.
  std::uint16_t port() const;

 private:
  class Network;
  std::unique_ptr<Network> network_;
};

}  // namespace heed::serve
