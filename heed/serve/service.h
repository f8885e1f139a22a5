// A server without its network: the models, the keys, the limits, and the list of paths. Transports
// give it requests; it may be called from any thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "heed/serve/access_log.h"
#include "heed/serve/client_limits.h"
#include "heed/serve/config.h"
#include "heed/serve/handlers.h"
#include "heed/serve/keys.h"

namespace heed::serve {

class Service {
 public:
  struct State {
    ServedModels models;
    Keys keys;
  };
  /// A path of the server.
  struct Route {
    std::string_view method, path, summary;
    bool needs_key;  ///< If keys are used at all.
    bool computes;   ///< Whether it runs on the pool, within the limits of the client.
    void (*run)(Service& service, const ExchangePtr& exchange, const State& state);
    std::vector<io::FieldInfo> (*body)() = nullptr;  ///< The members of the request's body.
  };
  static const std::vector<Route>& routes();

  /// Reads models and keys; throws heed::Error.
  explicit Service(const ServeConfig& config);
  ~Service();

  /// Answers a request now or later; does not wait for a model.
  void handle(const ExchangePtr& exchange);
  /// Answers a request that the transport could not read.
  void reject(Exchange& exchange, const ApiError& error);
  /// An answer was sent, or its client has gone.
  void finished(Exchange& exchange, const AnswerFacts& answer);

  /// Reads models and keys again, as this config names them. Requests in progress end with the
  /// models that they began with. If it throws, nothing has changed.
  void reload(const ServeConfig& fresh);
  /// Frees models that were replaced and are not used any more; forgets idle clients.
  void tidy();
  /// From now on, requests that compute are refused and /readyz says so.
  void stop() { is_stopping_ = true; }
  bool is_stopping() const { return is_stopping_; }
  /// Cancels what is not done and ends the threads that compute. No transport is called after it.
  void close();

  Metrics& metrics() { return metrics_; }
  const ServeConfig& config() const { return config_; }

 private:
  static std::shared_ptr<const State> load(const ServeConfig& config);
  std::shared_ptr<const State> state() const;
  const Route* find_route(Exchange& exchange) const;
  void allow_origin(Exchange& exchange) const;
  /// Throws ApiError unless the client may call, and gives the exchange its permit.
  void admit(Exchange& exchange, const Keys& keys, std::string_view key);
  void admit_unknown(Exchange& exchange);
  void compute(const ExchangePtr& exchange, const Route& route);

  const ServeConfig config_;
  Metrics metrics_;
  AccessLog log_;
  ClientLimits limits_;
  mutable std::mutex mutex_;
  std::shared_ptr<const State> state_;
  std::vector<std::shared_ptr<const State>> retired_;
  std::atomic<bool> is_stopping_ = false;
  TaskPool pool_, viewers_;
  ApiContext context_;
};

/// The API whose form errors of a path have.
Api api_of(std::string_view path);

/// The description of all paths (OpenAPI 3.0), made from the list of paths and the field visitors
/// of their bodies.
const std::string& openapi_json();

}  // namespace heed::serve
