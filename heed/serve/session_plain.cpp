// Connections of http.
#include "heed/serve/session.h"
#include "heed/serve/session_start.h"

namespace heed::serve {

void start_plain_session(Accepted accepted, Service& service, Connections& connections) {
  std::make_shared<Session<Tcp::socket>>(std::move(accepted.socket), service, connections,
                                         std::move(accepted.address))
      ->start();
}

}  // namespace heed::serve
