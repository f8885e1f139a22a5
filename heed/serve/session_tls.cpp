// Connections of https.
#include <boost/asio/ssl.hpp>

#include "heed/serve/session.h"
#include "heed/serve/session_start.h"

namespace heed::serve {
namespace {

// The context lives as long as its connections, also if it was replaced.
class TlsSession : public Session<TlsStream> {
 public:
  TlsSession(Accepted accepted, std::shared_ptr<asio::ssl::context> context, Service& service,
             Connections& connections)
      : Session(TlsStream(std::move(accepted.socket), *context), service, connections,
                std::move(accepted.address)),
        context_(std::move(context)) {}

 private:
  std::shared_ptr<asio::ssl::context> context_;
};

}  // namespace

void start_tls_session(Accepted accepted, std::shared_ptr<asio::ssl::context> context,
                       Service& service, Connections& connections) {
  std::make_shared<TlsSession>(std::move(accepted), std::move(context), service, connections)
      ->start();
}

}  // namespace heed::serve
