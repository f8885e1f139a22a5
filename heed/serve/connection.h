// What a connection and the listener know of each other, without the types of the network library.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "heed/serve/service.h"

namespace heed::serve {

/// A connection; functions may be called from any thread.
class Connection {
 public:
  virtual ~Connection() = default;
  /// Closes the connection when the request in progress is answered, or now if there is none.
  virtual void close_when_idle() = 0;
  /// Answers the request in progress with an error and closes the connection.
  virtual void close_now() = 0;
};

/// The connections of a server, and how many there may be.
class Connections {
 public:
  explicit Connections(Service& service) : service_(service) {}

  /// Counts a connection of a client (client_of); false if there are too many.
  bool enter(const std::string& client);
  void leave(const std::string& client);
  void add(const std::weak_ptr<Connection>& connection);
  void remove_gone();
  std::size_t count() const;
  void close_when_idle();
  void close_now();

  /// Counts bytes of requests and answers in memory; false, and they are not counted, if there are
  /// too many.
  bool try_hold(std::size_t bytes);
  void drop(std::size_t bytes) { held_ -= static_cast<std::int64_t>(bytes); }

 private:
  std::vector<std::shared_ptr<Connection>> alive();

  Service& service_;
  mutable std::mutex mutex_;
  std::size_t count_ = 0;
  std::map<std::string, std::int64_t> of_client_;
  std::atomic<std::int64_t> held_ = 0;
  std::set<std::weak_ptr<Connection>, std::owner_less<>> all_;
};

}  // namespace heed::serve
