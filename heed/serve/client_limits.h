// How much each client may do: requests and texts at the same time, requests per minute, wrong keys
// per minute. A client is a key or, without keys, an address. All functions may be called from any
// thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace heed::serve {

using Clock = std::chrono::steady_clock;

/// A bucket of tokens that refills at a constant rate and holds what a minute brings, at least one.
class RateBucket {
 public:
  explicit RateBucket(double per_minute) : rate_(per_minute), tokens_(capacity()) {}

  /// Takes a token; else the seconds until there is one.
  std::optional<double> take(Clock::time_point now);
  /// The seconds until there is a token; 0 if there is one.
  double wait(Clock::time_point now) const;
  /// Whether nothing was taken recently, so that a new bucket would be the same.
  bool is_full(Clock::time_point now) const;
  double rate() const { return rate_; }

 private:
  double capacity() const { return rate_ < 1 ? 1 : rate_; }
  double at(Clock::time_point now) const;

  double rate_;  // per minute
  double tokens_;
  Clock::time_point last_ = {};
};

/// The client that an address stands for. Of IPv6 that is its network of 64 bits, since one machine
/// has all of its addresses.
std::string client_of(const std::string& address);

class ClientLimits;

/// The place of a request among those of its client, while it lives. The limits must outlive it.
class ClientPermit {
 public:
  ClientPermit(ClientLimits& limits, std::string client)
      : limits_(limits), client_(std::move(client)) {}
  ~ClientPermit();
  ClientPermit(const ClientPermit&) = delete;
  ClientPermit& operator=(const ClientPermit&) = delete;

  /// Counts texts that the request gives to a model. Throws ApiError (429, or 400 if they are too
  /// many by themselves). Call it from one thread at a time.
  void add_texts(std::int64_t texts);

 private:
  ClientLimits& limits_;
  const std::string client_;
  std::int64_t texts_ = 0;
};

class ClientLimits {
 public:
  struct Options {
    std::int64_t at_once = 0;        ///< Requests of a client at the same time.
    std::int64_t texts = 1 << 20;    ///< Texts of these requests.
    double per_minute = 0;           ///< 0: any.
    double bad_keys_per_minute = 0;  ///< Of an address.
  };
  explicit ClientLimits(const Options& options) : options_(options) {}

  /// A place for a request, which the result keeps while it lives. Throws ApiError (429).
  std::shared_ptr<ClientPermit> enter(const std::string& client, std::optional<double> per_minute,
                                      Clock::time_point now = Clock::now());
  /// Whether an address may try another key. Throws ApiError (429).
  void check_tries(const std::string& address, Clock::time_point now = Clock::now());
  /// Counts a wrong key.
  void note_bad_key(const std::string& address, Clock::time_point now = Clock::now());
  /// Forgets clients that do nothing; returns how many are known.
  std::size_t forget_idle(Clock::time_point now = Clock::now());

 private:
  friend class ClientPermit;
  struct Client {
    std::int64_t running = 0, texts = 0;
    std::optional<RateBucket> bucket = {};
  };
  struct Tries {
    RateBucket bucket;
    Clock::time_point blocked_until = {};
  };
  void add_texts(const std::string& client, std::int64_t texts);
  void leave(const std::string& client, std::int64_t texts);

  const Options options_;
  std::mutex mutex_;
  std::map<std::string, Client> clients_;
  std::map<std::string, Tries> tries_;  // by address
};

}  // namespace heed::serve
